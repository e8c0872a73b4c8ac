//! What TypeScript's compiler does, by its functions on the stack: the phase, and the construct that it
//! checks.

use crate::analysis::frame_index::FrameIndex;
use cpu_prof_session::model::compilation::{CHECK, is_compiler, named, phase_below};
use cpu_prof_session::model::thread_profile::ThreadProfile;

/// The phase of all other work of the compiler.
const OTHER: &str = "other";

/// Functions of the checker with the construct that each checks. The innermost counts.
const CONSTRUCTS: [(&str, &str); 46] = [
    ("checkArrayLiteral", "array literals"),
    ("checkArrowFunction", "function expressions"),
    ("checkAssertion", "type assertions"),
    ("checkAwaitExpression", "await"),
    ("checkBinaryExpression", "binary expressions"),
    ("checkBinaryLikeExpression", "binary expressions"),
    ("checkCallExpression", "calls"),
    ("checkClassDeclaration", "classes"),
    ("checkClassExpression", "classes"),
    ("checkConditionalExpression", "conditional expressions"),
    ("checkConditionalType", "conditional types"),
    ("checkConstructorDeclaration", "methods"),
    ("checkDecorators", "decorators"),
    ("checkElementAccessExpression", "property accesses"),
    ("checkEnumDeclaration", "enums"),
    ("checkExportAssignment", "exports"),
    ("checkExportDeclaration", "exports"),
    ("checkExternalModuleExports", "exports"),
    ("checkFunctionDeclaration", "functions"),
    ("checkFunctionExpressionOrObjectLiteralMethod", "function expressions"),
    ("checkIdentifier", "identifiers"),
    ("checkImportDeclaration", "imports"),
    ("checkIndexedAccessType", "indexed access types"),
    ("checkInterfaceDeclaration", "interfaces"),
    ("checkJsxElement", "JSX"),
    ("checkJsxFragment", "JSX"),
    ("checkJsxSelfClosingElement", "JSX"),
    ("checkMappedType", "mapped types"),
    ("checkMethodDeclaration", "methods"),
    ("checkModuleDeclaration", "namespaces"),
    ("checkObjectLiteral", "object literals"),
    ("checkParameter", "parameters"),
    ("checkPropertyAccessExpression", "property accesses"),
    ("checkPropertyDeclaration", "properties"),
    ("checkPropertySignature", "properties"),
    ("checkReturnStatement", "return statements"),
    ("checkSatisfiesExpression", "satisfies"),
    ("checkTaggedTemplateExpression", "template literals"),
    ("checkTemplateExpression", "template literals"),
    ("checkTemplateLiteralType", "template literal types"),
    ("checkTupleType", "tuple types"),
    ("checkTypeAliasDeclaration", "type aliases"),
    ("checkTypeReferenceNode", "type references"),
    ("checkUnionOrIntersectionType", "union and intersection types"),
    ("checkVariableDeclaration", "variables"),
    ("resolveNewExpression", "calls"),
];

/// What the compiler does while a node is on top of the stack.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct CompilerWork {
    /// Phase; none outside of the compiler.
    pub phase: Option<&'static str>,
    /// Construct that is checked.
    pub construct: Option<&'static str>,
}

impl CompilerWork {
    /// Returns what the compiler does below a function. The innermost phase counts: files are parsed while the
    /// program is created, and bound while it is checked.
    fn below(self, name: &str) -> Self {
        if let Some(phase) = phase_below(name) {
            return Self { phase: Some(phase), construct: None };
        }
        let phase = self.phase.or(Some(OTHER));
        if phase != Some(CHECK) {
            return Self { phase, construct: None };
        }
        Self { phase, construct: named(&CONSTRUCTS, name).or(self.construct) }
    }
}

/// Returns the work of the compiler at each node of a profile.
pub(super) fn work_of_nodes(profile: &ThreadProfile, index: &FrameIndex) -> Vec<CompilerWork> {
    let is_compiler: Vec<bool> = index.files.iter().map(|file| is_compiler(&file.path)).collect();
    profile.downward(|above: CompilerWork, _, node| {
        let Some(function) = index.function(node.frame) else { return above };
        let function = &index.functions[function];
        if is_compiler[function.file] { above.below(&function.name) } else { above }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn work(stack: &[&str]) -> (Option<&'static str>, Option<&'static str>) {
        let work = stack.iter().fold(CompilerWork::default(), |above, name| above.below(name));
        (work.phase, work.construct)
    }

    #[test]
    fn the_innermost_phase_and_construct_count() {
        assert_eq!(work(&["executeCommandLine"]), (Some(OTHER), None));
        assert_eq!(work(&["createProgram2", "createSourceFile"]), (Some("parse"), None));
        assert_eq!(work(&["checkSourceFile", "bindSourceFile2"]), (Some("bind"), None));
        let call = ["checkSourceFile", "checkVariableDeclaration", "checkCallExpression"];
        assert_eq!(work(&call), (Some(CHECK), Some("calls")));
        let inner = [&call[..], &["resolveCall", "instantiateType"]].concat();
        assert_eq!(work(&inner), (Some(CHECK), Some("calls")));
        assert_eq!(work(&["checkSourceFileWorker", call[1]]), (Some(CHECK), Some("variables")));
        assert_eq!(work(&[&call[..], &["checkSourceFileWorker"]].concat()), (Some(CHECK), None));
        // The emitter asks the checker for types.
        assert_eq!(work(&["emitFiles", "checkCallExpression"]), (Some("emit"), None));
        assert_eq!(work(&[]), (None, None));
    }
}
