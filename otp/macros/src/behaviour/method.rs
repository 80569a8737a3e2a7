//! A callback as the user wrote it.

use quote::ToTokens;
use syn::visit_mut::VisitMut;
use syn::{
    FnArg, GenericArgument, Ident, ImplItemFn, Pat, PathArguments, ReceiverKind, ReturnType, Signature, Type, TypePath,
};

use super::Problems;

/// A callback and what its callers say.
pub(crate) struct Method {
    pub(crate) name: Ident,
    /// The argument that is the state of a machine, where the callback of one begins with it.
    pub(crate) state: Option<(Ident, Type)>,
    pub(crate) arguments: Vec<(Ident, Type)>,
    /// The type of the reply to a caller that the last argument is, where it is one.
    pub(crate) caller: Option<Type>,
    pub(crate) result: Option<Type>,
    pub(crate) waits: bool,
    pub(crate) scheduler: Scheduler,
    pub(crate) docs: Vec<syn::Attribute>,
}

/// Where a callback runs.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Scheduler {
    Normal,
    DirtyCpu,
    DirtyIo,
}

/// The role of a method.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Role {
    Call,
    Cast,
    Info,
    Event,
    Enter,
    AfterInit,
    Timeout,
    Terminate,
    TakeOver,
    Upgrade,
}

impl Role {
    /// Whether it makes a state of its own, and so has no `self`.
    pub(crate) fn makes_state(self) -> bool {
        matches!(self, Self::Upgrade | Self::TakeOver)
    }

    /// Whether a machine's callback of this role is told the state that the machine is in.
    pub(crate) fn in_state(self) -> bool {
        !self.makes_state() && self != Self::Enter
    }
}

const ROLES: [(&str, Role); 10] = [
    ("call", Role::Call),
    ("cast", Role::Cast),
    ("info", Role::Info),
    ("event", Role::Event),
    ("enter", Role::Enter),
    ("after_init", Role::AfterInit),
    ("timeout", Role::Timeout),
    ("terminate", Role::Terminate),
    ("take_over", Role::TakeOver),
    ("upgrade", Role::Upgrade),
];

/// The role of the method, and where it runs; the attribute that gave them is removed.
pub(crate) fn role(function: &mut ImplItemFn, wrong: &mut Problems) -> Option<(Role, Scheduler)> {
    let mut found = None;
    function.attrs.retain(|attribute| {
        let Some((name, role)) = ROLES.iter().find(|(name, _)| attribute.path().is_ident(name)) else { return true };
        let scheduler = match &attribute.meta {
            syn::Meta::Path(_) => Scheduler::Normal,
            other => scheduler(other).unwrap_or_else(|| {
                wrong.add(
                    other,
                    &format!("#[{name}] takes nothing, or dirty_cpu or dirty_io: the scheduler it runs on"),
                );
                Scheduler::Normal
            }),
        };
        if found.replace((*role, scheduler)).is_some() {
            wrong.add(attribute, "a method has one role: it is a #[call], or a #[cast], or an #[info]…");
        }
        false
    });
    found
}

fn scheduler(meta: &syn::Meta) -> Option<Scheduler> {
    let word: Ident = meta.require_list().ok()?.parse_args().ok()?;
    match word.to_string().as_str() {
        "dirty_cpu" => Some(Scheduler::DirtyCpu),
        "dirty_io" => Some(Scheduler::DirtyIo),
        _ => None,
    }
}

impl Method {
    /// A function that the Erlang half calls, with the state first if `with_self`.
    pub(crate) fn of(
        sig: &Signature,
        attributes: &[syn::Attribute],
        scheduler: Scheduler,
        with_self: bool,
        wrong: &mut Problems,
    ) -> Self {
        if !sig.generics.params.is_empty() {
            wrong.add(&sig.generics, "a message has one form, so this cannot be generic");
        }
        if let (Some(asyncness), true) = (&sig.asyncness, scheduler != Scheduler::Normal) {
            wrong.add(
                asyncness,
                "an async callback awaits otp::on_dirty_cpu(…) or on_dirty_io(…) where it needs to instead",
            );
        }
        let mut inputs = sig.inputs.iter();
        if with_self {
            match inputs.next() {
                Some(FnArg::Receiver(receiver)) if matches!(receiver.kind, ReceiverKind::Reference(..)) => {}
                Some(other) => wrong.add(other, "this takes `&mut self`, the state of the process"),
                None => wrong.add(&sig.ident, "this takes `&mut self`, the state of the process"),
            }
        }
        let mut arguments = Vec::new();
        for input in inputs {
            match input {
                FnArg::Typed(typed) => match &*typed.pat {
                    Pat::Ident(pattern) => arguments.push((pattern.ident.clone(), (*typed.ty).clone())),
                    other => wrong.add(other, "give this argument a name: its callers see it"),
                },
                FnArg::Receiver(receiver) => {
                    wrong.add(receiver, "there is no state yet when this runs: it returns one");
                }
            }
        }
        let result = match &sig.output {
            ReturnType::Default => None,
            ReturnType::Type(_, result) => Some((**result).clone()),
        };
        let docs = attributes.iter().filter(|a| a.path().is_ident("doc")).cloned().collect();
        Self {
            name: sig.ident.clone(),
            state: None,
            arguments,
            caller: None,
            result,
            waits: sig.asyncness.is_some(),
            scheduler,
            docs,
        }
    }

    /// Takes the caller, who is answered later, out of the arguments.
    pub(crate) fn find_caller(&mut self, wrong: &mut Problems) {
        let callers =
            self.arguments.iter().filter(|(_, ty)| last_name(ty).is_some_and(|name| name == "Caller")).count();
        let Some((_, ty)) = self.arguments.last() else { return };
        match (reply_of(ty), callers) {
            (Some(reply), 1) => {
                self.caller = Some(reply);
                self.arguments.pop();
            }
            (_, 0) => {}
            _ => wrong.add(ty, "a call has one caller, its last argument: `caller: Caller<Reply>`"),
        }
    }

    /// Takes the state out of the arguments, which comes first.
    pub(crate) fn find_state(&mut self, ty: &str, wrong: &mut Problems) {
        if self.arguments.is_empty() {
            wrong.add(&self.name, &format!("after `&mut self` comes the state: `state: {ty}`, or `state: &{ty}`"));
            return;
        }
        self.state = Some(self.arguments.remove(0));
    }

    /// Writes the type itself for `Self`, which stands for another one where the generated code repeats a signature.
    pub(crate) fn name_self(&mut self, name: &Ident) {
        let types = self.arguments.iter_mut().chain(&mut self.state).map(|(_, ty)| ty);
        types.chain(&mut self.caller).chain(&mut self.result).for_each(|ty| Named(name).visit_type_mut(ty));
    }

    /// Whether the result is a `Next`.
    pub(crate) fn returns(&self, name: &str) -> bool {
        self.result.as_ref().is_some_and(|result| last_name(result).is_some_and(|last| last == name))
    }
}

struct Named<'a>(&'a Ident);

impl VisitMut for Named<'_> {
    fn visit_ident_mut(&mut self, ident: &mut Ident) {
        if ident == "Self" {
            *ident = Ident::new(&self.0.to_string(), ident.span());
        }
    }
}

/// `Reply` of `Caller<Reply>`.
fn reply_of(ty: &Type) -> Option<Type> {
    let Type::Path(TypePath { path, .. }) = ty else { return None };
    let last = path.segments.last().filter(|last| last.ident == "Caller")?;
    let PathArguments::AngleBracketed(generic) = &last.arguments else { return None };
    match generic.args.first() {
        Some(GenericArgument::Type(reply)) => Some(reply.clone()),
        _ => None,
    }
}

/// The last word of a type's path.
fn last_name(ty: &Type) -> Option<String> {
    match ty {
        Type::Path(TypePath { path, .. }) => path.segments.last().map(|last| last.ident.to_token_stream().to_string()),
        _ => None,
    }
}
