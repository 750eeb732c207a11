//! Reports as pages, opened in Chromium at the widths of a phone and a laptop, in light and dark: no script error, no
//! overflow, letters of a readable size that do not run into each other, enough contrast, values on hover and by keys.

use crate::support::{run, shared_data};
use lanefish::input::Inputs;
use lanefish::jobs::Statistics;
use lanefish::pipeline::RunOptions;
use lanefish::report::html::{About, Input, comparison, page};
use lanefish::report::{Comparison, Groups, Histogram, Mates, Report, Results};
use lanefish::tiers::Tier;
use serde_json::{Value, json};
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

fn report(path: PathBuf) -> Report {
    let job = Statistics::new().with_details();
    let inputs = Inputs::resolve(&[path], |_| true).unwrap();
    let analyzer = Tier::best().analyzer().unwrap();
    let summary = run(&inputs, RunOptions::new(analyzer), &job, |part| job.add(part));
    assert!(summary.failure.is_none());
    job.finish(0, false).unwrap()
}

/// Games of Lichess: from the sample data, or the few of this repository.
fn games() -> Report {
    let own = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("data/lichess-2025-05.pgn");
    report(shared_data("pgn/lichess_db_1000k.pgn").unwrap_or(own))
}

/// A training set with most of what can be odd about one: these positions with other scores and results.
fn training_set() -> Report {
    let mut report = games();
    let positions = report.positions;
    let tent = |at: u64| 1 + (2000 - at.abs_diff(2000)).pow(2) / 10_000;
    let mut scores: Vec<u64> = (0..=4000).map(tent).collect();
    scores[4000] = 1_000_000;
    report.scores = Histogram::new(-2000, scores);
    report.positions = report.scores.total() + 40_000;
    report.mates = Mates::default();
    report.mates.white = 30_000;
    report.mates.black = 10_000;
    report.results = Results::default();
    report.results.white = report.positions / 3;
    report.results.draw = report.positions - report.results.white;
    report.white_to_move = report.positions;
    report.rejected = positions;
    report.groups = groups();
    report
}

/// Groups as a file has them, with a name that is long and looks like markup.
fn groups() -> Option<Groups> {
    let mut object = games().to_json();
    let stats = Value::from(object.clone());
    let values = json!([
        { "value": null, "stats": stats },
        { "value": -40, "stats": stats },
        { "value": 0, "stats": stats },
        { "value": "a <name> that is rather long & has \"quotes\"", "stats": stats },
    ]);
    let groups = json!({ "by": "score", "width": 40, "values": values });
    object.insert("groups".to_owned(), groups);
    Report::from_json(&object.into()).unwrap().groups
}

fn about(title: &str) -> About {
    let mut about = About::new(title);
    about.inputs.push(Input::new(format!("/a/long/way/to/the/directory/of/{}.pgn.zst", "games_".repeat(9))));
    about
}

/// The names under which Chromium is installed.
fn chromium() -> Option<&'static str> {
    ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable"].into_iter().find(|name| {
        let version = Command::new(name).arg("--version").output();
        version.is_ok_and(|output| output.status.success())
    })
}

/// Goes in front of everything else: collects script errors.
const ERRORS: &str = "<script>window.errors = [];
addEventListener('error', (event) => errors.push(event.message));</script>";

/// Goes behind everything else: a line for everything that is wrong.
const PROBE: &str = r#"<script>
addEventListener("load", () => {
  const wrong = errors.map((error) => "script: " + error);
  const width = document.documentElement.clientWidth;
  if (width !== WIDTH) wrong.push("width " + width);
  if (document.documentElement.scrollWidth > width) wrong.push("scroll width " + document.documentElement.scrollWidth);
  const name = (element) => (element.closest("figure")?.querySelector("h3, h4")?.textContent ?? "") + ": " +
    element.tagName + "." + (element.getAttribute("class") ?? "") + " " + element.textContent.slice(0, 30);
  for (const element of document.querySelectorAll("main *, header *")) {
    if (element.closest("details, .scroll")) continue;
    const box = element.getBoundingClientRect();
    if (box.width && (box.left < -0.5 || box.right > width + 0.5)) wrong.push("beyond the page: " + name(element));
  }
  const luminance = (color) => {
    const [r, g, b] = color.match(/[\d.]+/g).map((part) => {
      part = Number(part) / 255;
      return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
    });
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const background = (element) => {
    for (; element; element = element.parentElement) {
      const color = getComputedStyle(element).backgroundColor;
      if (color !== "rgba(0, 0, 0, 0)") return color;
    }
    return "rgb(255, 255, 255)";
  };
  if ((luminance(background(document.body)) < 0.2) !== DARK) wrong.push("the background is " + background(document.body));
  for (const element of document.querySelectorAll("p, li, a, b, code, dt, dd, small, th, td, h1, h2, h3, h4, caption, summary, svg text")) {
    const style = getComputedStyle(element);
    const color = element.tagName === "text" ? style.fill : style.color;
    const [dark, light] = [luminance(color), luminance(background(element))].sort((a, b) => a - b);
    if ((light + 0.05) / (dark + 0.05) < 4.5) wrong.push("contrast: " + name(element));
  }
  const drawings = [...document.querySelectorAll("svg")];
  for (const drawing of drawings) {
    const box = drawing.getBoundingClientRect();
    if (box.width < 100 || box.height < 80) wrong.push("small: " + name(drawing));
    const scale = box.width / drawing.viewBox.baseVal.width;
    if (11 * scale < 8.5 || 11 * scale > 18) wrong.push("letters of " + 11 * scale + " pixels: " + name(drawing));
    const texts = [...drawing.querySelectorAll("text")].map((text) => [text.getBoundingClientRect(), text.textContent]);
    texts.forEach(([a, first], at) => {
      for (const [b, second] of texts.slice(at + 1)) {
        // Boxes of letters are higher than the letters.
        if (a.left < b.right && b.left < a.right && a.top + 3 < b.bottom && b.top + 3 < a.bottom) {
          wrong.push(first + " and " + second + " overlap: " + name(drawing));
        }
      }
    });
  }
  const tip = document.querySelector(".tip");
  for (const drawing of drawings) {
    const marks = [...drawing.querySelectorAll("rect")];
    // Some of them: each takes a layout.
    const step = Math.ceil(marks.length / 40) | 1;
    const values = marks.filter((mark, at) => {
      if (at % step) return false;
      mark.dispatchEvent(new PointerEvent("pointerover", { bubbles: true }));
      const box = tip.getBoundingClientRect();
      if (tip.textContent && (box.left < 0 || box.right > width)) wrong.push("tip beyond the page: " + name(drawing));
      return tip.textContent;
    });
    if (!values.length) wrong.push("no values: " + name(drawing));
    drawing.dispatchEvent(new KeyboardEvent("keydown", { key: "Escape" }));
    if (tip.textContent) wrong.push("Escape does not hide the value: " + name(drawing));
    drawing.dispatchEvent(new KeyboardEvent("keydown", { key: "ArrowRight" }));
    const first = tip.textContent;
    for (const key of ["ArrowRight", "ArrowDown", "ArrowUp"]) drawing.dispatchEvent(new KeyboardEvent("keydown", { key }));
    if (!first || values.length > 1 && tip.textContent === first) wrong.push("keys do not move: " + name(drawing));
    drawing.dispatchEvent(new KeyboardEvent("keydown", { key: "Escape" }));
  }
  const result = document.createElement("pre");
  result.textContent = "VIEW " + drawings.length + "\n" + wrong.join("\n");
  parent.document.body.append(result);
});
</script>"#;

/// A page as it is to be looked at.
struct View {
    name: String,
    page: String,
    width: u32,
    is_dark: bool,
    /// Drawings that it has at least.
    drawings: usize,
}

impl View {
    /// The page in a frame, with the probe: no window is narrower than 500 pixels, but a frame may be.
    fn frame(&self, number: usize) -> String {
        const DARK: &str = "screen and (prefers-color-scheme: dark)";
        assert!(self.page.contains(DARK));
        let script = PROBE
            .replace("WIDTH", &self.width.to_string())
            .replace("DARK", &self.is_dark.to_string())
            .replace("VIEW", &number.to_string());
        let head = format!("<head>{ERRORS}");
        let mut page = self.page.replacen("<head>", &head, 1) + &script;
        page = page.replace(DARK, if self.is_dark { "screen" } else { "not all" });
        let page = page.replace('&', "&amp;").replace('"', "&quot;");
        let style = format!("border: 0; width: {}px; height: 900px", self.width);
        format!("<iframe style=\"{style}\" srcdoc=\"{page}\"></iframe>\n")
    }
}

/// The document of the browser after all scripts have run.
fn document(browser: &str, page: &Path) -> String {
    let profile = tempfile::tempdir().unwrap();
    let mut child = Command::new(browser)
        .args([
            "--headless",
            "--no-sandbox",
            "--disable-gpu",
            "--disable-quic",
            "--no-first-run",
            "--disable-background-networking",
            "--disable-component-update",
            "--disable-sync",
            "--hide-scrollbars",
            "--window-size=1400,1000",
            "--dump-dom",
        ])
        .arg(format!("--user-data-dir={}", profile.path().display()))
        .arg(format!("file://{}", page.display()))
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let mut stdout = child.stdout.take().unwrap();
    let reader = std::thread::spawn(move || {
        let mut text = String::new();
        stdout.read_to_string(&mut text).map(|_| text)
    });
    let start = Instant::now();
    while child.try_wait().unwrap().is_none() {
        if start.elapsed() > Duration::from_secs(300) {
            child.kill().unwrap();
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    reader.join().unwrap().unwrap()
}

#[test]
fn pages_in_a_browser() {
    let Some(browser) = chromium() else {
        return crate::support::skipped("Chromium is not installed");
    };
    let (games, training) = (games(), training_set());
    let mut plain = games.clone();
    plain.details = None;
    plain.scores = Histogram::default();
    plain.mates = Mates::default();
    plain.results = Results::default();
    plain.results.unknown = plain.positions;
    let both = [Comparison::of(&games, &training)];
    let both = comparison(&both, &[about("Games"), about("Training set")]);
    let nothing = Report::default();
    let mut views = Vec::new();
    let mut add = |name: &str, page: &str, width, is_dark, drawings| {
        views.push(View {
            name: format!("{name}, {width} pixels, dark: {is_dark}"),
            page: page.to_owned(),
            width,
            is_dark,
            drawings,
        });
    };
    for (width, is_dark) in [(1280, false), (1280, true), (390, false), (390, true)] {
        let lichess = page(&games, &about("Games of Lichess"));
        add("games", &lichess, width, is_dark, 30);
        let training = page(&training, &about("Training set"));
        add("training set", &training, width, is_dark, 30);
        add("comparison", &both, width, is_dark, 25);
    }
    add("plain", &page(&plain, &about("Positions")), 360, false, 19);
    add("nothing", &page(&nothing, &about("Nothing")), 360, true, 0);

    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("frames.html");
    let frames: String = views.iter().enumerate().map(|(number, view)| view.frame(number)).collect();
    std::fs::write(&file, format!("<!doctype html><body>\n{frames}")).unwrap();
    let document = document(browser, &file);
    let mut wrong = Vec::new();
    for (number, view) in views.iter().enumerate() {
        let Some((_, result)) = document.split_once(&format!("<pre>{number} ")) else {
            panic!("{}: the probe did not finish", view.name);
        };
        let (result, _) = result.split_once("</pre>").unwrap();
        let (drawings, lines) = result.split_once('\n').unwrap();
        let drawings: usize = drawings.parse().unwrap();
        assert!(drawings >= view.drawings, "{}: {drawings} drawings", view.name);
        wrong.extend(lines.lines().map(|line| format!("{}: {line}", view.name)));
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
