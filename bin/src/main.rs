//! The binary `rolecall`.

use std::process::ExitCode;

fn main() -> ExitCode {
    rolecall_cli::main()
}
