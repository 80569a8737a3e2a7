//! What the user wrote.

use proc_macro2::TokenStream;
use quote::ToTokens;
use syn::spanned::Spanned;
use syn::{Error, FnArg, Ident, ImplItem, ImplItemFn, ItemImpl, Pat, ReceiverKind, Result, ReturnType, Type};

/// A gen_server as it was written.
pub(crate) struct Model {
    /// The block, without the attributes that are ours.
    pub(crate) block: ItemImpl,
    pub(crate) name: Ident,
    pub(crate) init: Method,
    pub(crate) calls: Vec<Method>,
    pub(crate) casts: Vec<Method>,
    pub(crate) infos: Vec<Method>,
}

/// A method and what its callers say.
pub(crate) struct Method {
    pub(crate) name: Ident,
    pub(crate) arguments: Vec<(Ident, Type)>,
    pub(crate) result: Option<Type>,
    pub(crate) docs: Vec<syn::Attribute>,
}

/// What a method is for.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Role {
    Call,
    Cast,
    Info,
}

const ROLES: [(&str, Role); 3] = [("call", Role::Call), ("cast", Role::Cast), ("info", Role::Info)];

impl Model {
    pub(crate) fn read(arguments: TokenStream, item: TokenStream) -> Result<Self> {
        let mut block: ItemImpl = syn::parse2(item).map_err(|e| {
            Error::new(e.span(), "#[gen_server] stands before `impl Name { … }`, the block with the callbacks")
        })?;
        let mut wrong = Problems::default();
        if !arguments.is_empty() {
            wrong.add(&arguments, "#[gen_server] takes nothing here");
        }
        if let Some((path, _)) = &block.trait_ {
            wrong.add(
                path,
                "the callbacks of a gen_server stand in a block of their own: `impl Name`, not `impl Trait for Name`",
            );
        }
        if !block.generics.params.is_empty() {
            wrong.add(&block.generics, "a gen_server has one module in Erlang, so its type cannot be generic");
        }
        let name = name_of(&block.self_ty)?;
        let (mut init, mut calls, mut casts, mut infos) = (None, Vec::new(), Vec::new(), Vec::new());
        for item in &mut block.items {
            let ImplItem::Fn(function) = item else { continue };
            match (role(function, &mut wrong), function.sig.ident == "init") {
                (Some(_), true) => {
                    wrong.add(&function.sig.ident, "init is the callback that starts the server, and no other")
                }
                (None, true) => init = Method::read(function, false, &mut wrong),
                (Some(role), false) => {
                    let Some(method) = Method::read(function, true, &mut wrong) else { continue };
                    match role {
                        Role::Call => calls.push(method),
                        Role::Cast | Role::Info if method.result.is_some() => wrong.add(
                            &function.sig.output,
                            "nobody waits for what this returns: only a #[call] has a result",
                        ),
                        Role::Info if method.arguments.len() != 1 => {
                            wrong.add(&function.sig.inputs, "#[info] takes one argument: the message");
                        }
                        Role::Cast => casts.push(method),
                        Role::Info => infos.push(method),
                    }
                }
                (None, false) => {}
            }
        }
        if init.is_none() {
            wrong
                .add(&block.self_ty, "a gen_server has `fn init(argument) -> Init<Self>`, which gives its first state");
        }
        wrong.finish()?;
        let init = init.ok_or_else(|| Error::new(block.self_ty.span(), "no init"))?;
        Ok(Self { block, name, init, calls, casts, infos })
    }
}

impl Method {
    fn read(function: &ImplItemFn, with_self: bool, wrong: &mut Problems) -> Option<Self> {
        Self::of(&function.sig, &function.attrs, with_self, wrong)
    }

    /// A function that the Erlang half calls, with the state first if `with_self`.
    pub(crate) fn of(
        sig: &syn::Signature,
        attributes: &[syn::Attribute],
        with_self: bool,
        wrong: &mut Problems,
    ) -> Option<Self> {
        if let Some(asyncness) = &sig.asyncness {
            wrong.add(asyncness, "callbacks cannot be async yet");
        }
        if !sig.generics.params.is_empty() {
            wrong.add(&sig.generics, "a message has one form, so this cannot be generic");
        }
        let mut inputs = sig.inputs.iter();
        if with_self {
            match inputs.next() {
                Some(FnArg::Receiver(receiver)) if matches!(receiver.kind, ReceiverKind::Reference(..)) => {}
                Some(other) => wrong.add(other, "this takes `&mut self`, the state of the server"),
                None => wrong.add(&sig.ident, "this takes `&mut self`, the state of the server"),
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
                    wrong.add(receiver, "there is no state yet when init runs: it returns the first one");
                }
            }
        }
        let result = match &sig.output {
            ReturnType::Default => None,
            ReturnType::Type(_, result) => Some((**result).clone()),
        };
        let docs = attributes.iter().filter(|a| a.path().is_ident("doc")).cloned().collect();
        Some(Self { name: sig.ident.clone(), arguments, result, docs })
    }
}

/// What the method is for; the attribute that said it is taken away.
fn role(function: &mut ImplItemFn, wrong: &mut Problems) -> Option<Role> {
    let mut found = None;
    function.attrs.retain(|attribute| {
        let Some((_, role)) = ROLES.iter().find(|(name, _)| attribute.path().is_ident(name)) else { return true };
        if found.replace(*role).is_some() {
            wrong.add(attribute, "a method is one of #[call], #[cast] and #[info]");
        }
        false
    });
    found
}

/// The block without the attributes that say what methods are for, if it is one.
pub(crate) fn without_roles(item: TokenStream) -> TokenStream {
    let Ok(mut block) = syn::parse2::<ItemImpl>(item.clone()) else { return item };
    for item in &mut block.items {
        if let ImplItem::Fn(function) = item {
            let _ = role(function, &mut Problems::default());
        }
    }
    block.into_token_stream()
}

fn name_of(ty: &Type) -> Result<Ident> {
    match ty {
        Type::Path(path) if path.qself.is_none() => match path.path.get_ident() {
            Some(name) => Ok(name.clone()),
            None => Err(Error::new(path.span(), "name the type itself: a gen_server stands in the module of its type")),
        },
        other => Err(Error::new(other.span(), "a gen_server is a struct or an enum of yours")),
    }
}

/// All that is wrong, so that it can be said at once.
#[derive(Default)]
pub(crate) struct Problems(Option<Error>);

impl Problems {
    pub(crate) fn add(&mut self, at: &impl quote::ToTokens, what: &str) {
        let error = Error::new_spanned(at, what);
        match &mut self.0 {
            Some(others) => others.combine(error),
            None => self.0 = Some(error),
        }
    }

    pub(crate) fn finish(self) -> Result<()> {
        self.0.map_or(Ok(()), Err)
    }
}
