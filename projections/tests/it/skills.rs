//! The skills: found by id and by bytes while they are offered.

use minutebook_domain::{
    Event,
    ids::StreamId,
    skills::{self, Published, Withdrawn},
    text::{AgentName, Description, Reason, SkillName, SkillVersion},
};
use minutebook_projections::{Kind, SkillsView};
use uuid::Uuid;

use crate::world::{Entry, World};

/// Skill number so-and-so; every other one is signed.
fn published(number: u8) -> Published {
    let signed = number.is_multiple_of(2);
    Published {
        agent: AgentName::parse("ann").unwrap(),
        author_pubkey: signed.then(|| "ab".repeat(32)),
        author_sig: signed.then(|| "cd".repeat(64)),
        description: Description::parse("what it does").unwrap(),
        id: Uuid::from_u128(0xb000_0000_0000_4000_8000_0000_0000_0000 + u128::from(number)),
        name: SkillName::parse(&format!("skill {number}")).unwrap(),
        sha256: format!("{number:064x}"),
        size: 125,
        version: SkillVersion::parse("1").unwrap(),
    }
}

impl World {
    pub(crate) fn publish(&mut self, number: u8) {
        self.push_skill(skills::Event::Published(published(number)));
    }

    pub(crate) fn withdraw(&mut self, number: u8) {
        self.push_skill(skills::Event::Withdrawn(Withdrawn {
            id: published(number).id,
            reason: Reason::parse("because").unwrap(),
        }));
    }

    fn push_skill(&mut self, event: skills::Event) {
        let ours = |entry: &&Entry| entry.stream == StreamId::Skills;
        let entry = Entry {
            seq: self.log.len() as u64 + 1,
            stream: StreamId::Skills,
            sseq: self.log.iter().filter(ours).count() as u64 + 1,
            at: self.now(),
            kind: event.kind(),
            event: Some(Event::Skills(event)),
        };
        self.log.push(entry);
    }
}

fn digest(skill: &Published) -> [u8; 32] {
    skill.digest().unwrap()
}

#[test]
fn a_skill_is_found_by_its_id_and_by_its_bytes() {
    let mut world = World::new();
    world.open(true, None);
    world.publish(1);
    world.publish(2);
    let rows = world.fold(Kind::Skills);
    let (view, two) = (SkillsView::new(&rows), published(2));
    let row = view.skill(&two.id).unwrap().unwrap();
    assert_eq!(row.sha256, digest(&two));
    assert_eq!((row.seq, row.size), (3, 125));
    assert_eq!((row.name.as_str(), row.version.as_str()), ("skill 2", "1"));
    assert_eq!(view.by_sha256(&digest(&two)).unwrap(), Some(row));
    let other = published(3);
    assert_eq!(view.skill(&other.id).unwrap(), None);
    assert_eq!(view.by_sha256(&digest(&other)).unwrap(), None);
}

#[test]
fn a_withdrawn_skill_leaves_only_whose_its_bytes_were() {
    let mut world = World::new();
    world.publish(1);
    world.publish(2);
    world.withdraw(1);
    for batches in [&[3][..], &[1, 1, 1], &[2, 1]] {
        let rows = world.rows(Kind::Skills, batches);
        let (view, one) = (SkillsView::new(&rows), published(1));
        assert_eq!(view.skill(&one.id).unwrap(), None);
        assert_eq!(view.by_sha256(&digest(&one)).unwrap(), None);
        let bytes = view.bytes(&digest(&one)).unwrap().unwrap();
        assert_eq!((bytes.id, bytes.is_withdrawn), (one.id, true));
        assert!(view.skill(&published(2).id).unwrap().is_some());
    }
}
