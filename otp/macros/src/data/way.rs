//! The two traits that a form is written for, and the words of each.

use proc_macro2::TokenStream;
use quote::quote;

/// Which of them.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Way {
    /// `otp::Data`: what may be sent.
    Data,
    /// `otp::Carry`: what goes over to another build.
    Carry,
}

impl Way {
    pub(crate) fn path(self) -> TokenStream {
        match self {
            Self::Data => quote! { ::otp::Data },
            Self::Carry => quote! { ::otp::Carry },
        }
    }

    /// The method that makes the term of a value.
    pub(crate) fn write(self) -> TokenStream {
        match self {
            Self::Data => quote! { encode },
            Self::Carry => quote! { carry },
        }
    }

    /// The method that makes a value of a term.
    pub(crate) fn read(self) -> TokenStream {
        match self {
            Self::Data => quote! { decode },
            Self::Carry => quote! { carried },
        }
    }

    /// The method of a tuple that reads an element.
    pub(crate) fn element(self) -> TokenStream {
        match self {
            Self::Data => quote! { element },
            Self::Carry => quote! { carried },
        }
    }

    /// The methods of a map that read a field: one that must be there, and one that need not.
    pub(crate) fn field(self) -> (TokenStream, TokenStream) {
        match self {
            Self::Data => (quote! { field }, quote! { field_or }),
            Self::Carry => (quote! { carried }, quote! { carried_or }),
        }
    }
}
