//! The tables with their columns, version 1. packages/fleet/docs/internals.md says what they mean.

/// A table.
#[derive(Debug, Clone, Copy)]
pub(in crate::tables) struct LakeTable {
    /// Name, also that of the file.
    pub name: &'static str,
    /// Columns, as a Parquet schema.
    pub schema: &'static str,
}

/// Begins the schema of a table whose rows repeat the facts of the run.
macro_rules! with_facts {
    ($columns:literal) => {
        concat!(
            "message run {
                required binary run_id (STRING);
                required int64 started_at (TIMESTAMP(MICROS,false));
                optional binary commit (STRING);
                optional int32 commit_seq;
                optional binary branch (STRING);
                optional binary job (STRING);
                optional binary host (STRING);
                optional binary node (STRING);
                required binary tool (STRING);
                required int64 busy_us;
                required int64 duration_us;
                required int64 samples_run;
                required int32 interval_us;",
            $columns,
            "}"
        )
    };
}

pub(in crate::tables) const FUNCTIONS: LakeTable = LakeTable {
    name: "functions",
    schema: with_facts!(
        "required int32 function_id;
        required binary package (STRING);
        required binary file (STRING);
        required binary function (STRING);
        optional int32 line;
        optional int32 col;
        required int64 self_us;
        required int64 total_us;
        required int64 samples;"
    ),
};

pub(in crate::tables) const GROUPS: LakeTable = LakeTable {
    name: "groups",
    schema: with_facts!(
        "required binary kind (STRING);
        required binary sort (STRING);
        required binary name (STRING);
        required int64 self_us;
        required int64 total_us;"
    ),
};

pub(in crate::tables) const THREADS: LakeTable = LakeTable {
    name: "threads",
    schema: "message run {
        required binary run_id (STRING);
        required int32 thread;
        required int64 pid;
        required int64 tid;
        required binary process (STRING);
        required binary thread_name (STRING);
        required int64 start_us;
        required int64 end_us;
        required int64 busy_us;
        required int64 gc_us;
        required int64 program_us;
        required int64 blocked_us;
        required int64 idle_us;
        optional int64 cpu_us;
    }",
};

pub(in crate::tables) const STACKS: LakeTable = LakeTable {
    name: "stacks",
    schema: "message run {
        required binary run_id (STRING);
        required int32 stack_id;
        required group frames (LIST) {
            repeated group list {
                required int32 element;
            }
        }
    }",
};

pub(in crate::tables) const STACK_TIMES: LakeTable = LakeTable {
    name: "stack_times",
    schema: "message run {
        required binary run_id (STRING);
        required int32 thread;
        required int64 bucket_us;
        required int32 stack_id;
        optional int32 line;
        required int64 self_us;
        required int32 samples;
    }",
};
