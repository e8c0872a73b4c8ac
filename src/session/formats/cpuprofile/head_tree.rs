//! The tree of old `.cpuprofile` files: nodes within nodes, from `head` down.

use std::borrow::Cow;

use serde::Deserialize;
use serde_json::value::RawValue;

use crate::model::builder::ProfileBuilder;
use crate::model::frame_table::FrameTable;
use cpu_prof_core::format::number::{NodeNumber, Number};
use cpu_prof_core::profile::frame::CallFrame;

/// A node with its call frame and its children.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase", expecting = "a node of a call tree")]
struct HeadNode<'a> {
    id: NodeNumber,
    #[serde(borrow, default)]
    function_name: Cow<'a, str>,
    #[serde(borrow, default)]
    url: Cow<'a, str>,
    #[serde(default)]
    script_id: Number,
    /// Line, from 1; 0 or less if the line is not known.
    #[serde(default)]
    line_number: Number,
    /// Column, from 1.
    #[serde(default)]
    column_number: Number,
    #[serde(default)]
    hit_count: Number,
    /// Nodes, as they are written: stacks are deeper than a parser may call itself.
    #[serde(borrow, default)]
    children: Vec<&'a RawValue>,
}

/// Adds all nodes of a tree to a profile, parents before their children.
pub(super) fn announce(
    head: &[u8],
    builder: &mut ProfileBuilder,
    frames: &mut FrameTable,
) -> serde_json::Result<()> {
    let head: &RawValue = serde_json::from_slice(head)?;
    let mut rest = vec![(None, head)];
    while let Some((parent, text)) = rest.pop() {
        let node: HeadNode<'_> = serde_json::from_str(text.get())?;
        let id = node.id.0;
        let from_zero = |number: Number| i32::try_from(number.0 - 1).unwrap_or(-1).max(-1);
        let frame = frames.number(CallFrame {
            function_name: node.function_name.into(),
            url: node.url.into(),
            script_id: node.script_id.small(),
            line: from_zero(node.line_number),
            column: from_zero(node.column_number),
            ..CallFrame::root()
        });
        builder.announce(id, parent, frame);
        builder.hits(id, u64::try_from(node.hit_count.0).unwrap_or(0));
        rest.extend(node.children.into_iter().rev().map(|child| (Some(id), child)));
    }
    Ok(())
}
