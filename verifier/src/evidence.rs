//! What the caller brings from outside: saved checkpoints and receipts.
//!
//! These are what a log cannot fake: each says that a certain history was once signed. A receipt
//! carries a checkpoint, so it is an anchor too.

use crate::{
    error::VerifyError,
    signed::{Receipt, Signed},
};

/// A checkpoint saved outside.
#[derive(Clone, Debug)]
pub struct Anchor {
    pub(crate) label: String,
    pub(crate) kind: &'static str,
    pub(crate) signed: Signed,
}

impl Anchor {
    /// Reads a checkpoint. `label` is the caller's name for it, for the report.
    pub fn parse(label: &str, text: &[u8]) -> Result<Self, VerifyError> {
        let signed = Signed::parse(text).map_err(|why| VerifyError::Anchor {
            label: label.to_owned(),
            why,
        })?;
        Ok(Self {
            label: label.to_owned(),
            kind: "checkpoint",
            signed,
        })
    }

    /// Size of its tree.
    pub fn size(&self) -> u64 {
        self.signed.head.size
    }
}

/// A receipt given to a client: this record was in the log.
#[derive(Clone, Debug)]
pub struct OutsideReceipt {
    pub(crate) label: String,
    pub(crate) receipt: Receipt,
}

impl OutsideReceipt {
    /// Reads a `.tlog-proof`. `label` is the caller's name for it, for the report.
    pub fn parse(label: &str, text: &[u8]) -> Result<Self, VerifyError> {
        let refused = |why: String| VerifyError::Receipt {
            label: label.to_owned(),
            why,
        };
        let receipt = Receipt::parse(text).map_err(refused)?;
        if receipt.index >= receipt.signed.head.size {
            return Err(refused(
                "its index is not in its checkpoint's tree".to_owned(),
            ));
        }
        if !receipt.is_whole() {
            let text = "its proof does not lead from the record it holds to its checkpoint: it \
                        was changed; take the receipt anew from where it came";
            return Err(refused(text.to_owned()));
        }
        Ok(Self {
            label: label.to_owned(),
            receipt,
        })
    }

    /// The anchor inside.
    pub(crate) fn anchor(&self) -> Anchor {
        Anchor {
            label: self.label.clone(),
            kind: "receipt",
            signed: self.receipt.signed.clone(),
        }
    }
}
