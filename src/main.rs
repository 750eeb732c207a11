//! The command-line tool: arguments and printing on top of the public library, nothing else.

mod cli;

use std::process::ExitCode;

fn main() -> ExitCode {
    cli::run()
}
