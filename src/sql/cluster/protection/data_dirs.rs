//! The directories with the data of a cluster: its processes read no file outside of them, no matter who asks for it.

use crate::input::Inputs;
use crate::sql::SqlError;
use crate::sql::cluster::protocol::errors::{Carried, carried, machine};
use datafusion::common::Result;
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

/// The directories below which a process of a cluster reads files.
#[derive(Clone, Debug)]
pub(in crate::sql::cluster) struct Data(Arc<[Directory]>);

/// A directory under the name that it was given, and where it is.
#[derive(Debug)]
struct Directory {
    name: PathBuf,
    place: PathBuf,
}

impl Data {
    /// # Errors
    /// If one of them is not a directory.
    pub(in crate::sql::cluster) fn of(directories: &[PathBuf]) -> Result<Self, SqlError> {
        let opened = directories.iter().map(|name| {
            let failed = |reason: &dyn std::fmt::Display| {
                SqlError::Cluster(format!("cannot read data in {}: {reason}", name.display()))
            };
            let place = name.canonicalize().map_err(|error| failed(&error))?;
            if !place.is_dir() {
                return Err(failed(&"it is not a directory"));
            }
            let name = std::path::absolute(name).map_err(|error| failed(&error))?;
            Ok(Directory { name, place })
        });
        Ok(Self(opened.collect::<Result<_, _>>()?))
    }

    /// Checks that all these files are regular and below one of the directories, wherever links lead.
    ///
    /// # Errors
    /// If one is not. The message does not tell whether a file outside exists.
    pub(in crate::sql::cluster) fn check(&self, inputs: &Inputs) -> Result<()> {
        for source in &inputs.sources {
            let path = source.name();
            self.check_place(path).map_err(Carried::into_error)?;
            // The error of opening what does not exist says more.
            if path.exists() && !path.is_file() {
                return Err(carried(&format!("{} is not a regular file (on {})", path.display(), machine())));
            }
        }
        Ok(())
    }

    /// Checks that a path is in one of the directories.
    pub(in crate::sql::cluster) fn check_place(&self, path: &Path) -> std::result::Result<(), Carried> {
        let is_inside = match path.canonicalize() {
            Ok(place) => self.0.iter().any(|directory| place.starts_with(&directory.place)),
            Err(_) => {
                let is_plain = path.components().all(|part| part != Component::ParentDir);
                is_plain && self.0.iter().any(|directory| path.starts_with(&directory.name))
            }
        };
        if is_inside {
            return Ok(());
        }
        let directories = self.0.iter().map(|directory| directory.name.display().to_string());
        Err(Carried(format!(
            "{} is outside of the directories that the cluster reads on {}: {} (--data)",
            path.display(),
            machine(),
            directories.collect::<Vec<_>>().join(", ")
        )))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_files_below_the_directories_are_read() {
        let root = tempfile::tempdir().unwrap();
        let root = root.path().canonicalize().unwrap();
        for name in ["data/deep", "data-too", "other"] {
            std::fs::create_dir_all(root.join(name)).unwrap();
        }
        for name in ["data/a.fen", "data/deep/b.fen", "data-too/c.fen", "other/d.fen", "e.fen"] {
            std::fs::write(root.join(name), "x").unwrap();
        }
        let data = Data::of(&[root.join("data")]).unwrap();
        let check = |name: &str| data.check(&Inputs::of([root.join(name)])).map_err(|error| error.to_string());
        for inside in ["data/a.fen", "data/deep/b.fen", "data/deep/../a.fen", "data/missing.fen", "data/./a.fen"] {
            assert_eq!(check(inside), Ok(()), "{inside}");
        }
        let outside = [
            "data-too/c.fen",
            "other/d.fen",
            "e.fen",
            "data/../e.fen",
            "data/deep/../../other/d.fen",
            "data/../missing.fen",
            "missing.fen",
            "../../etc/passwd",
        ];
        for outside in outside {
            assert!(check(outside).unwrap_err().contains("outside of the directories"), "{outside}");
        }
        assert!(check("data/deep").unwrap_err().contains("not a regular file"));
        for wrong in ["data/a.fen", "nowhere"] {
            assert!(Data::of(&[root.join(wrong)]).is_err(), "{wrong}");
        }
    }

    #[cfg(unix)]
    #[test]
    fn links_are_where_they_lead() {
        use std::os::unix::fs::symlink;
        let root = tempfile::tempdir().unwrap();
        let root = root.path();
        std::fs::create_dir_all(root.join("data")).unwrap();
        std::fs::write(root.join("data/a.fen"), "x").unwrap();
        std::fs::write(root.join("secret.fen"), "x").unwrap();
        symlink(root.join("data"), root.join("named")).unwrap();
        symlink(root.join("secret.fen"), root.join("data/out.fen")).unwrap();
        symlink(root, root.join("data/up")).unwrap();
        symlink("a.fen", root.join("data/in.fen")).unwrap();
        symlink(root.join("nowhere"), root.join("data/dangling.fen")).unwrap();
        // The directory may be a link itself; files are then asked for by either name.
        let data = Data::of(&[root.join("named")]).unwrap();
        let check = |name: &str| data.check(&Inputs::of([root.join(name)]));
        for inside in ["named/a.fen", "data/a.fen", "data/in.fen"] {
            check(inside).unwrap();
        }
        for outside in ["data/out.fen", "named/out.fen", "data/up/secret.fen", "secret.fen"] {
            check(outside).unwrap_err();
        }
    }
}
