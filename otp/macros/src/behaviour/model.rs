//! The model of a behaviour: its block of callbacks as the user wrote it.

use proc_macro2::TokenStream;
use quote::ToTokens;
use syn::parse::Parser;
use syn::spanned::Spanned;
use syn::{Error, Ident, ImplItem, ItemImpl, Result, Type};

use super::{Method, Problems, Role, Scheduler, role};

/// A behaviour as it was written.
pub(crate) struct Model {
    /// The block, without the attributes that are ours.
    pub(crate) block: ItemImpl,
    pub(crate) name: Ident,
    pub(crate) options: Options,
    pub(crate) init: Method,
    pub(crate) callbacks: Vec<(Role, Method)>,
    /// The trait of what a call may return.
    pub(crate) answer: TokenStream,
}

/// The options in the parentheses of the attribute.
#[derive(Default)]
pub(crate) struct Options {
    pub(crate) module: Option<String>,
    pub(crate) trap_exit: bool,
    pub(crate) off_heap: bool,
    /// What becomes of its processes at an upgrade, if their states are not to go over.
    pub(crate) on_upgrade: Option<Ident>,
    /// Words that only this behaviour has, with their types.
    pub(crate) types: Vec<(Ident, Type)>,
}

/// A kind of behaviour.
pub(crate) struct Shape {
    /// The name of the attribute.
    pub(crate) attribute: &'static str,
    /// The word for such a behaviour in messages.
    pub(crate) one: &'static str,
    pub(crate) roles: &'static [Role],
    /// The return type of `init`, for the error when it was left out.
    pub(crate) init: &'static str,
    /// The types that the attribute takes, as in `state = State`.
    pub(crate) types: &'static [&'static str],
    /// Functions of its module that callers' names must leave alone.
    pub(crate) taken: &'static [&'static str],
    /// Whether a process is one such behaviour, so that it may stay in its build at an upgrade, or be started anew.
    pub(crate) may_stay: bool,
    /// Whether it is a machine, whose callbacks are told its state.
    pub(crate) in_states: bool,
    /// The trait of what a call may return.
    pub(crate) answer: fn(&Ident) -> TokenStream,
}

impl Model {
    /// The model, and what is wrong so far; what is wrong with this kind of behaviour is for that to add.
    ///
    /// # Errors
    /// When there is too little to make a model of.
    pub(crate) fn read(arguments: TokenStream, item: TokenStream, shape: &Shape) -> Result<(Self, Problems)> {
        let attribute = shape.attribute;
        let mut block = crate::bodies::block(item).map_err(|e| {
            Error::new(
                e.span(),
                format!("#[{attribute}] stands before `impl Name {{ … }}`, the block with the callbacks"),
            )
        })?;
        let mut wrong = Problems::default();
        let options = Options::read(arguments, shape, &mut wrong);
        if let Some((path, _)) = &block.trait_ {
            wrong.add(
                path,
                &format!(
                    "the callbacks of {} stand in a block of their own: `impl Name`, not `impl Trait for Name`",
                    shape.one
                ),
            );
        }
        let name = name_of(&block, shape)?;
        let (mut init, mut callbacks) = (None, Vec::new());
        for item in &mut block.items {
            let ImplItem::Fn(function) = item else { continue };
            match (role(function, &mut wrong), function.sig.ident == "init") {
                (Some(_), true) => {
                    wrong.add(
                        &function.sig.ident,
                        "init is the callback that starts the process, and has no other role",
                    );
                }
                (None, true) => {
                    init = Some(Method::of(&function.sig, &function.attrs, Scheduler::Normal, false, &mut wrong));
                }
                (Some((role, scheduler)), false) => {
                    if !shape.roles.contains(&role) {
                        wrong.add(&function.sig.ident, &format!("{} has no such callback", shape.one));
                        continue;
                    }
                    let mut method =
                        Method::of(&function.sig, &function.attrs, scheduler, !role.makes_state(), &mut wrong);
                    if role == Role::Call {
                        method.find_caller(&mut wrong);
                    }
                    if shape.in_states && role.in_state() {
                        method.find_state(&options.state_name(), &mut wrong);
                    }
                    method.name_self(&name);
                    callbacks.push((role, method));
                }
                (None, false) => {}
            }
        }
        if init.is_none() {
            wrong.add(&block.self_ty, &format!("{} has `{}`", shape.one, shape.init));
        }
        let model = init.map(|init| Self { answer: (shape.answer)(&name), block, name, options, init, callbacks });
        if let Some(model) = &model {
            model.check(shape, &mut wrong);
        }
        match model {
            Some(model) => Ok((model, wrong)),
            None => Err(wrong.finish().err().unwrap_or_else(|| Error::new(proc_macro2::Span::call_site(), "no init"))),
        }
    }

    /// The function that gives its module.
    pub(crate) fn module(&self) -> TokenStream {
        super::module(self.options.module.as_deref(), &super::snake(&super::plain(&self.name)))
    }

    pub(crate) fn of(&self, role: Role) -> impl Iterator<Item = &Method> + Clone {
        self.callbacks.iter().filter(move |(one, _)| *one == role).map(|(_, method)| method)
    }

    /// A number for the text of the block, by which two builds can be compared (FNV-1a).
    pub(crate) fn text(&self) -> u64 {
        let text = self.block.to_token_stream().to_string();
        text.bytes().fold(0xCBF2_9CE4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01B3))
    }

    /// Checks that apply to the callbacks of every behaviour.
    fn check(&self, shape: &Shape, wrong: &mut Problems) {
        let upgraded = if shape.in_states { 2 } else { 1 };
        for role in [Role::AfterInit, Role::Terminate, Role::Enter, Role::TakeOver] {
            if let Some(second) = self.of(role).nth(1) {
                wrong.add(&second.name, "there is one such callback already");
            }
        }
        for (role, method) in &self.callbacks {
            let count = method.arguments.len();
            if matches!(role, Role::Call | Role::Cast) && shape.taken.iter().any(|name| method.name == name) {
                wrong.add(
                    &method.name,
                    "its module in Erlang has a function of this name, which OTP calls: choose another",
                );
            }
            match role {
                Role::AfterInit if count != 0 => {
                    wrong.add(&method.name, "this takes `&mut self` and nothing else: what it needs is in the state");
                }
                Role::Terminate if count > 1 => {
                    wrong.add(
                        &method.name,
                        "this takes `&mut self`, and the reason if it wants to: `reason: otp::Reason`",
                    );
                }
                Role::Upgrade if count != upgraded || method.result.is_none() || method.waits => {
                    let what = if shape.in_states {
                        "this takes state and data as they were and returns them as they are now: `fn name(state: OldState, old: \
                         Old) -> (State, Self)`"
                    } else {
                        "this takes a state as it was and returns it as it is now: `fn name(old: Old) -> Self`"
                    };
                    wrong.add(&method.name, what);
                }
                _ => {}
            }
            if *role != Role::Call
                && method.arguments.iter().any(|(_, ty)| ty.to_token_stream().to_string().contains("Caller <"))
            {
                wrong.add(&method.name, "only a #[call] has a caller");
            }
        }
    }
}

impl Options {
    fn read(arguments: TokenStream, shape: &Shape, wrong: &mut Problems) -> Self {
        let mut options = Self::default();
        let parser = syn::meta::parser(|meta| {
            if meta.path.is_ident("trap_exit") {
                options.trap_exit = true;
            } else if meta.path.is_ident("off_heap") {
                options.off_heap = true;
            } else if meta.path.is_ident("on_upgrade") && shape.may_stay {
                let word: Ident = meta.value()?.parse()?;
                if word != "stay" && word != "restart" {
                    let what = "on_upgrade = stay leaves a process in the build that it began in, and on_upgrade = restart has its \
                                supervisor start it anew";
                    return Err(Error::new(word.span(), what));
                }
                options.on_upgrade = Some(word);
            } else if meta.path.is_ident("module") {
                options.module = Some(module_given(&meta)?);
            } else if let Some(word) = meta.path.get_ident().filter(|word| shape.types.iter().any(|ty| word == ty)) {
                options.types.push((word.clone(), meta.value()?.parse()?));
            } else {
                let types: String = shape.types.iter().map(|ty| format!("{ty} = Type, ")).collect();
                let stays = if shape.may_stay { ", on_upgrade = stay or restart" } else { "" };
                return Err(meta.error(format!(
                    "#[{}] takes {types}trap_exit, off_heap{stays} and module = \"name_in_erlang\"",
                    shape.attribute
                )));
            }
            Ok(())
        });
        if let Err(error) = parser.parse2(arguments) {
            wrong.also(error);
        }
        options
    }

    /// How the type of a machine's states is called, as far as it is known.
    fn state_name(&self) -> String {
        self.types
            .iter()
            .find(|(word, _)| word == "state")
            .map_or_else(|| "State".to_owned(), |(_, ty)| ty.to_token_stream().to_string())
    }

    /// The description of the behaviour for the Erlang half, in Erlang's notation.
    pub(crate) fn written(&self, model: &Model) -> String {
        let mut words = Vec::new();
        let exits = model.of(Role::Info).flat_map(|info| &info.arguments).any(|(_, ty)| {
            matches!(ty, Type::Path(path) if path.path.segments.last().is_some_and(|last| last.ident == "Exit"))
        });
        let terminates = model.of(Role::Terminate).next().is_some();
        if model.of(Role::AfterInit).next().is_some() {
            words.push("started");
        }
        if terminates {
            words.push("terminate");
        }
        if model.of(Role::Enter).next().is_some() {
            words.push("enter");
        }
        // Work before the end, and news of others' ends, are only possible for who is not ended by those.
        if self.trap_exit || terminates || exits {
            words.push("trap_exit");
        }
        if self.off_heap {
            words.push("{spawn, [{message_queue_data, off_heap}]}");
        }
        let mut words: Vec<_> = words.into_iter().map(str::to_owned).collect();
        words.extend(self.on_upgrade.as_ref().map(|word| format!("{{on_upgrade, {word}}}")));
        format!("[{}]", words.join(", "))
    }
}

/// The name in `module = "name_in_erlang"`.
pub(crate) fn module_given(meta: &syn::meta::ParseNestedMeta<'_>) -> Result<String> {
    let given: syn::LitStr = meta.value()?.parse()?;
    let name = given.value();
    let plain = name.starts_with(|first: char| first.is_ascii_lowercase())
        && name.chars().all(|letter| letter.is_ascii_lowercase() || letter.is_ascii_digit() || letter == '_');
    if plain && name.len() <= 200 {
        return Ok(name);
    }
    Err(Error::new(given.span(), "a module's name has the letters a to z, 0 to 9 and _, and begins with a letter"))
}

/// What an attribute of this shape makes of the block: `code`, if `check` finds nothing wrong beside what is wrong in any.
pub(crate) fn expand<T>(
    arguments: TokenStream,
    item: TokenStream,
    shape: &Shape,
    check: impl FnOnce(&Model, Problems) -> Result<T>,
    code: impl FnOnce(&Model, &T) -> TokenStream,
) -> TokenStream {
    let read = Model::read(arguments, item.clone(), shape)
        .and_then(|(model, wrong)| check(&model, wrong).map(|checked| (model, checked)));
    match read {
        Ok((model, checked)) => code(&model, &checked),
        Err(error) => {
            // The block stays, without what only this attribute knows, so that fewer errors follow from this one.
            let (block, error) = (without_roles(item), error.into_compile_error());
            quote::quote! { #block #error }
        }
    }
}

/// The block without the attributes that say what methods are for, if it is one.
fn without_roles(item: TokenStream) -> TokenStream {
    let Ok(mut block) = crate::bodies::block(item.clone()) else { return item };
    for item in &mut block.items {
        if let ImplItem::Fn(function) = item {
            let _ = role(function, &mut Problems::default());
        }
    }
    block.into_token_stream()
}

/// What is said of a behaviour of a generic type.
fn generic(shape: &Shape) -> String {
    format!(
        "{} has one module in Erlang, so its type cannot be generic: make a struct of its own for each type that it is needed for, \
         with the generic one in it",
        shape.one
    )
}

fn name_of(block: &ItemImpl, shape: &Shape) -> Result<Ident> {
    if !block.generics.params.is_empty() {
        return Err(Error::new_spanned(&block.generics, generic(shape)));
    }
    match &*block.self_ty {
        Type::Path(path) if path.qself.is_none() => match path.path.get_ident() {
            Some(name) => Ok(name.clone()),
            None if path.path.segments.iter().any(|segment| !segment.arguments.is_empty()) => {
                Err(Error::new(path.span(), generic(shape)))
            }
            None => {
                let what = format!("name the type itself: {} stands in the module of its type", shape.one);
                Err(Error::new(path.span(), what))
            }
        },
        other => Err(Error::new(other.span(), format!("{} is a struct or an enum of yours", shape.one))),
    }
}
