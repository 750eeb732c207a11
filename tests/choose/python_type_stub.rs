//! The keys of `games=` in the types for Python: those of the list of options.

use lanefish::choose::GameOption;
use std::fmt::Write;
use std::fs;
use std::path::Path;

const BEGIN: &str = "class _Games(TypedDict, total=False):\n";

fn keys() -> String {
    let mut keys = String::new();
    for option in GameOption::ALL {
        let kind = match option {
            _ if option.value.is_empty() => "bool".to_owned(),
            _ if option.is_number => "int".to_owned(),
            _ if option.takes_several => "Union[str, Iterable[str]]".to_owned(),
            _ if option.name == "plies" => "tuple[int, Optional[int]]".to_owned(),
            _ if option.values.is_empty() => "str".to_owned(),
            _ => {
                let values: Vec<_> = option.values.iter().map(|names| format!("\"{}\"", names[0])).collect();
                format!("Literal[{}]", values.join(", "))
            }
        };
        writeln!(keys, "    {}: {kind}", option.name.replace('-', "_")).unwrap();
    }
    keys
}

#[test]
fn python_stub_has_the_options_for_games() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("python/package/lanefish/__init__.pyi");
    let stub = fs::read_to_string(&path).expect("readable");
    let (before, rest) = stub.split_once(BEGIN).expect("the class");
    let (_, after) = rest.split_once("\n\n").expect("an end");
    let expected = format!("{before}{BEGIN}{}\n{after}", keys());
    if stub != expected && std::env::var_os("LANEFISH_UPDATE_STUB").is_some() {
        fs::write(&path, &expected).expect("writable");
        return;
    }
    assert_eq!(stub, expected, "LANEFISH_UPDATE_STUB=1 cargo test python_stub writes it");
}
