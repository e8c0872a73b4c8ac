//! The samples that stand beside the events of a trace, and the stack frames that they name.

use cpu_prof_core::format::trace::check::problems::Problems;
use cpu_prof_session::formats::trace::samples::{GlobalSamples, SampleProblems};

/// Adds what is wrong with samples. Returns the count of their threads, and of the samples.
pub(super) fn check(mut samples: GlobalSamples, to: &mut Problems) -> (usize, u64) {
    samples.check();
    let SampleProblems { lost, without_stack, broken_frames, without_caller, circles } =
        samples.problems;
    let mut tell = |count: u64, field: &str, one: &str, several: &str| {
        if count > 0 {
            let message = if count == 1 { one.to_owned() } else { format!("{count} {several}") };
            to.error("samples", field, message);
        }
    };
    tell(
        lost,
        "samples",
        "a sample needs a thread (tid), a time (ts) and a stack (sf or stack)",
        "samples have no thread (tid), no time (ts) or no stack (sf or stack)",
    );
    tell(
        without_stack,
        "samples",
        "a sample names a stack frame that is not in stackFrames",
        "samples name stack frames that are not in stackFrames",
    );
    tell(
        broken_frames,
        "stackFrames",
        "a stack frame needs a name, a text",
        "stack frames have no name, or cannot be read",
    );
    tell(
        without_caller,
        "stackFrames",
        "a stack frame has a parent that is not in stackFrames",
        "stack frames have parents that are not in stackFrames",
    );
    tell(
        circles,
        "stackFrames",
        "a stack frame is among its own parents",
        "stack frames are among their own parents",
    );
    (samples.thread_count(), samples.count() as u64)
}
