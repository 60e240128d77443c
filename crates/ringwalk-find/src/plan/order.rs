//! Tests that stand together, put in the order in which they are decided with the least work.
//!
//! Only neighbours without any action among them are moved: what an action does, and how often, stays the same. For tests
//! that are independent the best order is by cost divided by how often a test decides the matter (Hellerstein and
//! Stonebraker, "Predicate Migration", 1993).

use super::Node;

/// What joins the parts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Operator {
    And,
    Or,
}

/// Arranges each run of parts that change nothing. The sort is stable: equals stay as they were given.
pub(super) fn arrange(parts: &mut [Node<'_>], operator: Operator) {
    for run in parts.chunk_by_mut(|a, b| a.estimate.pure && b.estimate.pure) {
        run.sort_by(|a, b| rank(a, operator).total_cmp(&rank(b, operator)));
    }
}

fn rank(node: &Node<'_>, operator: Operator) -> f64 {
    let decides = match operator {
        Operator::And => 1.0 - node.estimate.success,
        Operator::Or => node.estimate.success,
    };
    node.estimate.cost / decides.max(1e-9)
}
