//! The background loads.

use std::fs;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc;
use std::time::Duration;

use kizami_workloads::loads::{self, LoadBench};

use super::harness::{Folder, no_children};

pub fn every_load_works_until_it_is_stopped_and_leaves_nothing_behind() {
    for load in loads::ALL {
        let folder: &'static Folder = Box::leak(Box::new(Folder::new()));
        let stop: &'static AtomicBool = Box::leak(Box::new(AtomicBool::new(false)));
        let work: &'static AtomicU64 = Box::leak(Box::new(AtomicU64::new(0)));
        let (send, receive) = mpsc::channel();
        let thread = std::thread::spawn(move || {
            let result = (load.run)(&LoadBench { stop, work, scratch: &folder.0 });
            no_children();
            let _ = send.send(result.map_err(|e| e.to_string()));
        });
        for more in [1, 20] {
            let until = work.load(Ordering::Relaxed) + more;
            while work.load(Ordering::Relaxed) < until {
                if let Ok(result) = receive.recv_timeout(Duration::from_millis(5)) {
                    panic!("{} ended before it was told to: {result:?}", load.name);
                }
            }
        }
        stop.store(true, Ordering::Relaxed);
        let result = receive.recv_timeout(Duration::from_secs(30));
        assert_eq!(result.unwrap_or_else(|_| panic!("{} does not end", load.name)), Ok(()), "{}", load.name);
        thread.join().expect("the thread of the load");
        assert_eq!(folder.files(), 0, "{} left files behind", load.name);
        let _ = fs::remove_dir_all(&folder.0);
    }
}
