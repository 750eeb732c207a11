//! The directory in which an executor writes files: none, unless it was started with one.

use crate::sql::SqlError;
use crate::sql::cluster::protocol::errors::{carried, machine};
use datafusion::common::Result;
use std::fs;
use std::path::{Component, Path};
use std::sync::Arc;

/// The directory below which a process of a cluster writes files.
#[derive(Clone, Debug, Default)]
pub(in crate::sql::cluster) struct OutputDirectory(Option<Arc<Path>>);

impl OutputDirectory {
    /// Creates the directory, if one is given and it is missing.
    ///
    /// # Errors
    /// If it cannot be created, or is not a directory.
    pub(in crate::sql::cluster) fn of(name: Option<&Path>) -> std::result::Result<Self, SqlError> {
        let Some(name) = name else { return Ok(Self::default()) };
        let made = fs::create_dir_all(name).and_then(|()| name.canonicalize());
        let place = made.map_err(|error| SqlError::Cluster(format!("cannot write in {}: {error}", name.display())))?;
        Ok(Self(Some(place.into())))
    }

    /// Makes the directory of a file that is to be written.
    ///
    /// # Errors
    /// If the file would be outside of this directory, wherever links lead, or is a link; or if its directory cannot be
    /// made. Then nothing is.
    pub(in crate::sql::cluster) fn prepare(&self, file: &Path) -> Result<()> {
        let refused = |reason: &str| carried(&format!("{} {reason} (on {})", file.display(), machine()));
        let Some(place) = &self.0 else {
            return Err(refused("is not written: this executor was started without --out, so it writes no files"));
        };
        let is_plain = |part| matches!(part, Component::Normal(_) | Component::RootDir | Component::Prefix(_));
        let (true, true, Some(directory)) = (file.is_absolute(), file.components().all(is_plain), file.parent()) else {
            return Err(refused("is not an absolute path without `.` and `..`"));
        };
        let check = |directory: &Path| match directory.canonicalize() {
            Ok(found) if found.starts_with(place) => Ok(()),
            _ => Err(refused(&format!(
                "is outside of the directory in which the cluster writes files: {} (--out)",
                place.display()
            ))),
        };
        // What exists of it decides; the rest is made there.
        check(directory.ancestors().find(|path| path.symlink_metadata().is_ok()).unwrap_or(directory))?;
        fs::create_dir_all(directory).map_err(|error| refused(&format!("cannot be written: {error}")))?;
        check(directory)?;
        match file.symlink_metadata() {
            Ok(metadata) if metadata.is_symlink() => Err(refused("is a symbolic link, which is not written")),
            _ => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_files_below_the_directory_are_written() {
        let root = tempfile::tempdir().unwrap();
        let root = root.path().canonicalize().unwrap();
        for name in ["out-too", "other"] {
            fs::create_dir(root.join(name)).unwrap();
        }
        let out = OutputDirectory::of(Some(&root.join("out"))).unwrap();
        for inside in ["out/a.boards", "out/deep/deeper/b.boards", "out/deep/c.boards"] {
            out.prepare(&root.join(inside)).unwrap();
            assert!(root.join(inside).parent().unwrap().is_dir(), "{inside}");
        }
        let outside = [
            "out-too/a.boards",
            "other/new/a.boards",
            "a.boards",
            "out/../a.boards",
            "out/deep/../../other/a.boards",
            "out/../out/a.boards",
        ];
        for outside in outside {
            out.prepare(&root.join(outside)).unwrap_err();
        }
        out.prepare(Path::new("out/a.boards")).unwrap_err();
        out.prepare(Path::new("/")).unwrap_err();
        assert!(!root.join("other/new").exists());
        assert_eq!(fs::read_dir(root.join("other")).unwrap().count(), 0);
        let error = OutputDirectory::of(None).unwrap().prepare(&root.join("out/a.boards")).unwrap_err();
        assert!(error.to_string().contains("started without --out"), "{error}");
        fs::write(root.join("file"), "x").unwrap();
        OutputDirectory::of(Some(&root.join("file"))).unwrap_err();
    }

    #[cfg(unix)]
    #[test]
    fn links_are_where_they_lead() {
        use std::os::unix::fs::symlink;
        let root = tempfile::tempdir().unwrap();
        let root = root.path();
        for name in ["out/deep", "other"] {
            fs::create_dir_all(root.join(name)).unwrap();
        }
        fs::write(root.join("other/a.boards"), "x").unwrap();
        symlink(root.join("other"), root.join("out/up")).unwrap();
        symlink(root.join("out/deep"), root.join("out/down")).unwrap();
        symlink(root.join("other/a.boards"), root.join("out/a.boards")).unwrap();
        symlink(root.join("other/b.boards"), root.join("out/b.boards")).unwrap();
        symlink(root.join("nowhere"), root.join("out/dangling")).unwrap();
        symlink(root.join("out"), root.join("named")).unwrap();
        let out = OutputDirectory::of(Some(&root.join("named"))).unwrap();
        for inside in ["named/x.boards", "out/x.boards", "out/down/x.boards", "out/down/new/x.boards"] {
            out.prepare(&root.join(inside)).unwrap();
        }
        for outside in
            ["out/up/x.boards", "out/up/new/x.boards", "out/a.boards", "out/b.boards", "out/dangling/x.boards"]
        {
            out.prepare(&root.join(outside)).unwrap_err();
        }
        assert_eq!(fs::read_dir(root.join("other")).unwrap().count(), 1);
        assert!(!root.join("nowhere").exists());
    }
}
