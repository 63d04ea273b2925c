//! The fold of `skills`.

use minutebook_domain::{
    Event, Fact, What,
    skills::{self, Published, Withdrawn},
};

use super::{BytesRow, SkillRow, bytes_key, skill_key};
use crate::{Kind, Projection, ProjectionError, RowOp, Rows, overlay::Overlay};

/// Folds published and withdrawn skills into rows.
#[derive(Default)]
pub struct Skills {
    pending: Overlay,
}

impl Projection for Skills {
    fn kind(&self) -> Kind {
        Kind::Skills
    }

    fn apply(&mut self, rows: &dyn Rows, fact: &Fact<'_>) -> Result<(), ProjectionError> {
        match fact.what {
            What::Present(Event::Skills(skills::Event::Published(event))) => {
                self.publish(fact, event)
            }
            What::Present(Event::Skills(skills::Event::Withdrawn(event))) => {
                self.withdraw(rows, event)
            }
            // Nothing erases what is said of skills.
            What::Present(Event::Keys(_) | Event::Room(_)) | What::Erased(_) => Ok(()),
        }
    }

    fn flush(&mut self, out: &mut Vec<RowOp>) -> Result<(), ProjectionError> {
        self.pending.drain(out);
        Ok(())
    }
}

impl Skills {
    fn publish(&mut self, fact: &Fact<'_>, event: &Published) -> Result<(), ProjectionError> {
        let Some(sha256) = event.digest() else {
            return Ok(());
        };
        let row = SkillRow {
            id: event.id,
            seq: fact.seq,
            published_at: fact.at,
            agent: event.agent.as_str().to_owned(),
            name: event.name.as_str().to_owned(),
            version: event.version.as_str().to_owned(),
            description: event.description.as_str().to_owned(),
            sha256,
            size: event.size,
            author_pubkey: event.author_pubkey.clone(),
            author_sig: event.author_sig.clone(),
        };
        let bytes = BytesRow {
            id: event.id,
            is_withdrawn: false,
        };
        self.pending.put_row(skill_key(&event.id), &row)?;
        self.pending.put_row(bytes_key(&sha256), &bytes)
    }

    fn withdraw(&mut self, rows: &dyn Rows, event: &Withdrawn) -> Result<(), ProjectionError> {
        let key = skill_key(&event.id);
        let Some(row) = self.pending.get_row::<SkillRow>(rows, &key)? else {
            return Ok(());
        };
        self.pending.delete(key);
        let bytes = BytesRow {
            id: event.id,
            is_withdrawn: true,
        };
        self.pending.put_row(bytes_key(&row.sha256), &bytes)
    }
}
