//! Descendants of this process: those whose parents have ended are adopted, all are waited for, and all can be signalled.
//!
//! Two facts of Linux make it certain that nothing is left. A subreaper (`prctl(2)`) becomes the parent of each descendant whose own
//! parent ends, whatever sessions or groups it made. And `wait(2)` says that there is no child only if there is no descendant.

use std::collections::BTreeSet;
use std::io;

use rustix::io::Errno;
use rustix::process::{
    Pid, Signal, WaitOptions, getpgrp, getpid, kill_process, kill_process_group, set_child_subreaper, wait,
};

use super::end::End;

/// Adopts, from now on, descendants whose parents have ended.
pub(super) fn adopt() -> io::Result<()> {
    Ok(set_child_subreaper(Some(getpid()))?)
}

/// Children that have ended since the last call, and whether any is left.
#[derive(Debug, Default)]
pub(super) struct Reaped {
    pub(super) ended: Vec<(Pid, End)>,
    pub(super) none_left: bool,
}

/// Waits for the children that have ended, adopted ones too, and for no others.
pub(super) fn reap() -> Reaped {
    let mut reaped = Reaped::default();
    loop {
        match wait(WaitOptions::NOHANG) {
            Ok(Some((pid, status))) => reaped.ended.extend(End::of(status).map(|end| (pid, end))),
            Ok(None) => return reaped,
            Err(Errno::INTR) => {}
            // The only other error of this call: there are no children.
            Err(_) => {
                reaped.none_left = true;
                return reaped;
            }
        }
    }
}

/// Sends `signal` to each child, and to all processes of its group. Descendants below them in other groups become children when
/// their parents end.
///
/// No stranger is hit: no id of a child or of its group is used again before the child was waited for, which only [`reap`] does.
pub(super) fn signal(signal: Signal) {
    let own = getpgrp();
    let mut groups = BTreeSet::new();
    for Child { pid, group } in children() {
        if group == own.as_raw_nonzero().get() {
            // It has not made its own group yet.
            told(kill_process(pid, signal), pid);
        } else if groups.insert(group)
            && let Some(group) = Pid::from_raw(group)
        {
            told(kill_process_group(group, signal), group);
        }
    }
}

/// Reports a signal that could not be sent: the program has changed its user. One that has ended needs none.
fn told(sent: Result<(), Errno>, pid: Pid) {
    match sent {
        Ok(()) | Err(Errno::SRCH) => {}
        Err(error) => tracing::error!("process {} cannot be stopped: {error}", pid.as_raw_nonzero()),
    }
}

struct Child {
    pid: Pid,
    group: i32,
}

/// Children of this process, from /proc.
fn children() -> Vec<Child> {
    let own = getpid().as_raw_nonzero().get();
    let Ok(entries) = std::fs::read_dir("/proc") else {
        tracing::error!("/proc cannot be read, so programs that left their group cannot be stopped: mount it");
        return Vec::new();
    };
    let pids = entries.flatten().filter_map(|entry| entry.file_name().to_str()?.parse::<i32>().ok());
    pids.filter_map(|pid| {
        // The state, the parent and the group follow the name, which is in parentheses (proc(5)).
        let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
        let mut fields = stat.rsplit_once(") ")?.1.split(' ').skip(1);
        let (parent, group) = (fields.next()?.parse::<i32>().ok()?, fields.next()?.parse().ok()?);
        (parent == own).then_some(Child { pid: Pid::from_raw(pid)?, group })
    })
    .collect()
}
