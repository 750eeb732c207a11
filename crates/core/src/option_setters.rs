//! Setters of options, so that adding options does not break programs.

/// A method for each of these fields that sets it and returns the options.
#[doc(hidden)]
#[macro_export]
macro_rules! option_setters {
    ($($type:ident)::+ $(<$life:lifetime>)? { $($name:ident: $value:ty),* $(,)? }) => {
        impl $(<$life>)? $($type)::+ $(<$life>)? {
            $(
                #[doc = concat!("Sets `", stringify!($name), "`.")]
                #[must_use]
                pub fn $name(mut self, $name: $value) -> Self {
                    self.$name = $name;
                    self
                }
            )*
        }
    };
}

pub use option_setters as setters;
