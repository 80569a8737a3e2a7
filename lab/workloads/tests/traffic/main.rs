//! Promises of the workloads that move messages, bytes and files, and of the background loads, tested in a process with
//! a counting allocator.
//!
//! Windows and child processes are counted for the whole process, so all of it is one test: another test that ran, or
//! only reported, at the same time would be counted too. Each promise is a function named for it.

mod files;
mod harness;
mod loads;
mod messages;
mod streams;

use harness::{Reached, stopped};
use kizami_workloads::window::CountingAllocator;

#[global_allocator]
static ALLOCATOR: CountingAllocator = CountingAllocator;

/// Runs the functions one after the other; names those that failed.
macro_rules! promises {
    ($($name:path),* $(,)?) => {{
        let promises: &[(&str, fn())] = &[$((stringify!($name), $name)),*];
        let broken = promises.iter().filter(|(name, promise)| {
            println!("{name}");
            std::panic::catch_unwind(promise).is_err()
        });
        let broken: Vec<_> = broken.map(|(name, _)| *name).collect();
        assert!(broken.is_empty(), "broken: {broken:?}");
    }};
}

#[test]
fn the_promises_of_messages_streams_files_and_loads_hold() {
    promises! {
        messages::a_round_of_messages_is_timed_with_every_channel_and_kind_of_task,
        messages::memory_is_read_beside_the_messages_and_adds_up,
        messages::messages_grow_until_memory_runs_out_and_leave_nothing_behind,
        messages::growing_stops_at_the_last_number_of_groups_and_on_request,
        messages::a_killed_round_is_a_failure_and_not_a_hang,
        streams::every_byte_of_a_tcp_stream_arrives,
        streams::the_buffers_of_a_tcp_stream_are_held_to_what_is_asked_for_and_read_back_at_its_end,
        streams::a_tcp_stream_ends_with_its_time,
        streams::a_tcp_stream_of_less_than_a_row_is_one_row,
        streams::a_tcp_partner_that_dies_is_a_failure_and_not_a_hang,
        streams::what_is_sent_by_udp_is_received_or_lost,
        streams::more_than_can_be_sent_by_udp_is_offered_and_shows,
        streams::a_udp_receiver_that_dies_is_a_failure_and_not_a_hang,
        streams::messages_come_back_over_tcp_and_udp,
        streams::the_other_half_of_a_workload_can_be_done_outside,
        streams::a_partner_outside_that_is_not_there_or_says_something_else_is_a_failure,
        files::files_are_written_and_read_in_every_way_and_hold_what_was_written,
        files::the_state_of_the_cache_is_the_one_that_was_found,
        files::direct_files_are_written_and_read_where_the_file_system_can,
        files::a_full_disk_is_said_and_the_file_is_gone,
        files::a_first_write_has_a_file_of_its_own_that_was_there,
        every_workload_ends_when_it_is_stopped_and_keeps_its_rows,
        loads::every_load_works_until_it_is_stopped_and_leaves_nothing_behind,
    }
}

fn every_workload_ends_when_it_is_stopped_and_keeps_its_rows() {
    for tasks in [&[("loops", "10_000_000")][..], &[("loops", "10_000_000"), ("tasks", "threads")]] {
        stopped("messages", tasks, Reached::Nothing);
        stopped("messages", tasks, Reached::Partners);
    }
    stopped("messages", &[("loops", "1"), ("rounds", "100_000")], Reached::Rows);
    stopped("tcp", &[("direction", "send"), ("duration", "3600s")], Reached::Rows);
    stopped("tcp", &[("direction", "receive"), ("duration", "3600s")], Reached::Rows);
    stopped("udp", &[("duration", "3600s")], Reached::Rows);
    stopped("udp", &[("duration", "3600s"), ("rate", "1kbit")], Reached::Partners);
    stopped("file", &[("op", "write"), ("samples", "10_000_000")], Reached::Rows);
    stopped("file", &[("size", "64MiB"), ("samples", "10_000_000")], Reached::Nothing);
    stopped("first-write", &[("size", "16MiB"), ("samples", "10_000")], Reached::Nothing);
}
