//! What QEMU calls, and what is called of it (`qemu-plugin.h`). It loads this as a library, whose missing functions are its own.

use std::ffi::{CStr, c_char, c_int, c_uint, c_void};
use std::fs;
use std::sync::{Mutex, PoisonError};

use crate::follow::{Block, Follower};
use crate::symbols::Symbols;

type Id = u64;
type Translated = extern "C" fn(Id, *mut c_void);
type Ran = extern "C" fn(c_uint, *mut c_void);
type Accessed = extern "C" fn(c_uint, u32, u64, *mut c_void);

/// Callbacks look at no register.
const NO_REGISTERS: c_int = 0;
/// Reads and writes.
const BOTH: c_int = 3;

unsafe extern "C" {
    fn qemu_plugin_register_vcpu_tb_trans_cb(id: Id, callback: Translated);
    fn qemu_plugin_register_vcpu_tb_exec_cb(block: *mut c_void, callback: Ran, flags: c_int, data: *mut c_void);
    fn qemu_plugin_register_vcpu_mem_cb(
        instruction: *mut c_void,
        callback: Accessed,
        flags: c_int,
        which: c_int,
        data: *mut c_void,
    );
    fn qemu_plugin_tb_n_insns(block: *const c_void) -> usize;
    fn qemu_plugin_tb_vaddr(block: *const c_void) -> u64;
    fn qemu_plugin_tb_get_insn(block: *const c_void, index: usize) -> *mut c_void;
    fn qemu_plugin_mem_is_store(info: u32) -> bool;
    fn dlsym(handle: *mut c_void, name: *const c_char) -> *mut c_void;
}

/// The version of the interface. QEMU looks at it after the library was loaded, which is when [`learn_version`] has run: those from 9.1 on
/// take 2 and more, those before take 1 at most. What is used here is the same in both.
#[unsafe(no_mangle)]
#[used]
static mut qemu_plugin_version: c_int = 1;

#[used]
#[unsafe(link_section = ".init_array")]
static LEARN_VERSION: extern "C" fn() = learn_version;

extern "C" fn learn_version() {
    const IN_ALL: *mut c_void = std::ptr::null_mut();
    // SAFETY: a name with its end; nobody else looks at the number before the library is loaded.
    unsafe {
        // It came with version 2.
        if !dlsym(IN_ALL, c"qemu_plugin_scoreboard_new".as_ptr()).is_null() {
            qemu_plugin_version = 2;
        }
    }
}

struct State {
    follower: Follower,
    out: String,
}

static STATE: Mutex<Option<State>> = Mutex::new(None);

fn with_state<T>(work: impl FnOnce(&mut State) -> T) -> Option<T> {
    STATE.lock().unwrap_or_else(PoisonError::into_inner).as_mut().map(work)
}

/// QEMU has loaded it, and hands on its arguments. What is not 0 ends QEMU.
///
/// # Safety
/// QEMU calls it, with so many arguments.
#[unsafe(no_mangle)]
unsafe extern "C" fn qemu_plugin_install(
    id: Id,
    _: *const c_void,
    count: c_int,
    arguments: *const *const c_char,
) -> c_int {
    // SAFETY: so many strings, as QEMU says.
    let word = |n: usize| unsafe { CStr::from_ptr(*arguments.add(n)) }.to_string_lossy().into_owned();
    let words: Vec<String> = (0..usize::try_from(count).unwrap_or(0)).map(word).collect();
    match prepared(&words) {
        Ok(state) => {
            *STATE.lock().unwrap_or_else(PoisonError::into_inner) = Some(state);
            // SAFETY: the number is that of this plugin.
            unsafe { qemu_plugin_register_vcpu_tb_trans_cb(id, translated) };
            0
        }
        Err(why) => {
            eprintln!("kizami-follow: {why}");
            1
        }
    }
}

fn prepared(words: &[String]) -> Result<State, String> {
    let word = |name: &str| {
        let found = words.iter().find_map(|word| word.strip_prefix(name)?.strip_prefix('='));
        found.ok_or_else(|| format!("it was not told {name}=…"))
    };
    let (symbols, out) = (word("symbols")?, word("out")?.to_owned());
    let text = fs::read_to_string(symbols).map_err(|e| format!("{symbols}: {e}"))?;
    let follower = Follower::new(Symbols::read(&text), word("mark")?, word("switch")?)?;
    Ok(State { follower, out })
}

extern "C" fn translated(_: Id, block: *mut c_void) {
    // SAFETY: the block is QEMU's while this runs.
    let (address, instructions) = unsafe { (qemu_plugin_tb_vaddr(block), qemu_plugin_tb_n_insns(block)) };
    let known = with_state(|state| {
        let known = state.follower.block(address, instructions as u64);
        (known, state.follower.is_switch(&known))
    });
    let Some((known, is_switch)) = known else { return };
    // It may run until the machine ends, and there are as many as there is code.
    let data: *mut Block = Box::into_raw(Box::new(known));
    // SAFETY: block and instructions are QEMU's, and the data stays.
    unsafe {
        qemu_plugin_register_vcpu_tb_exec_cb(block, ran, NO_REGISTERS, data.cast());
        for n in (0..instructions).filter(|_| is_switch) {
            let instruction = qemu_plugin_tb_get_insn(block, n);
            qemu_plugin_register_vcpu_mem_cb(instruction, accessed, NO_REGISTERS, BOTH, std::ptr::null_mut());
        }
    }
}

extern "C" fn ran(_: c_uint, data: *mut c_void) {
    // SAFETY: a block that stays.
    let block = unsafe { &*data.cast::<Block>() };
    with_state(|state| {
        if let Some(written) = state.follower.runs(block)
            && let Err(e) = fs::write(&state.out, written)
        {
            eprintln!("kizami-follow: {}: {e}", state.out);
        }
    });
}

extern "C" fn accessed(_: c_uint, info: u32, address: u64, _: *mut c_void) {
    // SAFETY: what QEMU said of the access.
    let writes = unsafe { qemu_plugin_mem_is_store(info) };
    with_state(|state| state.follower.accesses(address, writes));
}
