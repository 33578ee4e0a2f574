//! The container file, judged by hadolint, and held against the binary.

use std::process::Command;

use rolecall_tests::process::binary;
use rolecall_tests::tools::tool;

use super::{file, quiet, read};

/// Libraries in an image `distroless/cc`.
const LIBRARIES: [&str; 8] = [
    "linux-vdso.so.1",
    "libc.so.6",
    "libm.so.6",
    "libgcc_s.so.1",
    "libpthread.so.0",
    "libdl.so.2",
    "librt.so.1",
    "/lib64/ld-linux-x86-64.so.2",
];

#[test]
fn the_container_file_is_well_formed_and_runs_as_nobody_in_particular() {
    let path = file("container/Containerfile");
    quiet(Command::new(tool("hadolint")).arg("--no-color").arg(&path));
    let text = read(&path);
    let stages: Vec<_> = text.split("\nFROM ").collect();
    let [_, build, last] = stages[..] else { panic!("two stages: {text}") };
    let version = env!("CARGO_PKG_RUST_VERSION");
    assert!(build.starts_with(&format!("docker.io/library/rust:{version}-")), "the workspace needs Rust {version}");
    let line = |word: &str| last.lines().rfind(|line| line.starts_with(word)).unwrap_or_else(|| panic!("no {word}"));
    let user = line("USER ").trim_start_matches("USER ").split(':').map(str::parse::<u32>);
    assert!(user.into_iter().all(|id| id.is_ok_and(|id| id > 0)), "numbers other than root's");
    // No shell stands between the first process and its signals.
    assert_eq!(line("ENTRYPOINT "), r#"ENTRYPOINT ["/usr/local/bin/rolecall"]"#);
}

#[test]
fn the_binary_needs_no_library_that_the_image_lacks() {
    let listed = quiet(Command::new("ldd").arg(binary()));
    let needed: Vec<_> = listed.lines().filter_map(|line| line.split_whitespace().next()).collect();
    assert!(needed.contains(&"libc.so.6"), "{listed}");
    let missing: Vec<_> = needed.iter().filter(|library| !LIBRARIES.contains(library)).collect();
    assert!(missing.is_empty(), "{missing:?}");
}
