//! An answer comes from the cache exactly if the whole question is the same.

use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use support::{Folder, Tool};

/// A tool that counts in a file how often it is asked, and answers with its arguments' files and its input.
struct Asked {
    folder: Folder,
    /// Folder of the file `count`. No question names this folder.
    counter: Folder,
    tool: PathBuf,
}

impl Asked {
    fn new(name: &str) -> Asked {
        let (folder, counter) = (Folder::new(name), Folder::new("counter"));
        let count = counter.file("count");
        let text = format!(
            "#!/bin/sh\necho asked >> {count}\nout=\nfor one in \"$@\"; do\n  [ \"$last\" = -o ] && out=$one\n  \
             [ -f \"$one\" ] && [ \"$last\" != -o ] && cat \"$one\"\n  last=$one\ndone\ncat\n\
             [ -n \"$out\" ] && echo written > \"$out\"\necho complaint >&2\nexit 3\n"
        );
        let tool = folder.write("tool", text);
        std::fs::set_permissions(&tool, PermissionsExt::from_mode(0o755)).expect("an executable file");
        Asked { folder, counter, tool }
    }

    fn tool(&self) -> Tool {
        let mut tool = Tool::new(&self.tool);
        tool.cache_in(&self.folder.join("cache"));
        tool
    }

    /// Asks, and returns the output and how often the tool has been asked until now.
    fn ask(&self, tool: &mut Tool) -> (String, usize) {
        let answer = tool.output().expect("the tool starts");
        assert_eq!(answer.status.code(), Some(3));
        assert_eq!(answer.stderr, b"complaint\n");
        let count = std::fs::read_to_string(self.counter.join("count")).expect("it has been asked");
        (String::from_utf8(answer.stdout).expect("text"), count.lines().count())
    }
}

#[test]
fn the_same_question_is_asked_once() {
    let asked = Asked::new("same");
    for _ in 0..3 {
        assert_eq!(asked.ask(asked.tool().arg("a").input("text")), ("text".to_owned(), 1));
    }
}

#[test]
fn another_argument_or_input_or_variable_misses() {
    let asked = Asked::new("arguments");
    assert_eq!(asked.ask(asked.tool().arg("a").input("text")).1, 1);
    assert_eq!(asked.ask(asked.tool().arg("b").input("text")).1, 2);
    assert_eq!(asked.ask(asked.tool().args(["a", "b"]).input("text")).1, 3);
    assert_eq!(asked.ask(asked.tool().arg("ab").input("text")).1, 4);
    assert_eq!(asked.ask(asked.tool().arg("a").input("other")), ("other".to_owned(), 5));
    assert_eq!(asked.ask(asked.tool().arg("a").input("text").env("WORD", "x")).1, 6);
    assert_eq!(asked.ask(asked.tool().arg("a").input("text")).1, 6);
}

#[test]
fn a_changed_file_misses() {
    let asked = Asked::new("files");
    let file = asked.folder.write("a.c", "#include \"a.h\"\n");
    asked.folder.write("a.h", "one");
    assert_eq!(asked.ask(asked.tool().arg(&file)).1, 1);
    assert_eq!(asked.ask(asked.tool().arg(&file)).1, 1);
    // A file that the argument's file includes.
    asked.folder.write("a.h", "two");
    assert_eq!(asked.ask(asked.tool().arg(&file)).1, 2);
    asked.folder.write("a.c", "other");
    assert_eq!(asked.ask(asked.tool().arg(&file)), ("other".to_owned(), 3));
    // The same file in another temporary folder is the same question.
    let elsewhere = Folder::new("elsewhere");
    let same = elsewhere.write("a.c", "other");
    assert_eq!(asked.ask(asked.tool().arg(&same)).1, 3);
    // A file in a folder that an argument names.
    let include = format!("-I{}", asked.folder.file("lib"));
    std::fs::create_dir(asked.folder.join("lib")).expect("a folder");
    asked.folder.write("lib/b.h", "one");
    assert_eq!(asked.ask(asked.tool().arg(&include)).1, 4);
    assert_eq!(asked.ask(asked.tool().arg(&include)).1, 4);
    asked.folder.write("lib/b.h", "two");
    assert_eq!(asked.ask(asked.tool().arg(&include)).1, 5);
}

#[test]
fn another_tool_misses() {
    let asked = Asked::new("tools");
    assert_eq!(asked.ask(asked.tool().arg("a")).1, 1);
    let text = std::fs::read_to_string(&asked.tool).expect("the script");
    std::fs::write(&asked.tool, text + "# A new version.\n").expect("the script");
    assert_eq!(asked.ask(asked.tool().arg("a")).1, 2);
}

#[test]
fn files_that_the_tool_writes_come_back() {
    let asked = Asked::new("outputs");
    let out = asked.folder.join("out");
    let has = |path: &Path| std::fs::read_to_string(path).expect("a file") == "written\n";
    for _ in 0..2 {
        assert_eq!(asked.ask(asked.tool().arg("-o").arg(&out)).1, 1);
        assert!(has(&out));
        std::fs::remove_file(&out).expect("a file");
    }
}

#[test]
fn a_damaged_answer_is_no_answer() {
    let asked = Asked::new("damaged");
    assert_eq!(asked.ask(asked.tool().arg("a")).1, 1);
    let files = |folder: &Path| -> Vec<PathBuf> {
        std::fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("an entry").path()).collect()
    };
    let folders = files(&asked.folder.join("cache"));
    let [answer] = &files(&folders[0])[..] else { panic!("one answer") };
    let bytes = std::fs::read(answer).expect("an answer");
    for length in 0..bytes.len() {
        std::fs::write(answer, &bytes[..length]).expect("an answer");
        assert_eq!(asked.ask(asked.tool().arg("a")).1, length + 2, "{length} bytes");
    }
    assert_eq!(asked.ask(asked.tool().arg("a")).1, bytes.len() + 1);
}

#[test]
fn fresh_questions_are_always_asked() {
    let asked = Asked::new("fresh");
    for count in 1..4 {
        assert_eq!(asked.ask(asked.tool().arg("a").fresh()).1, count);
    }
}

/// A text names the folders of the question that gets the answer, in outputs and in files.
#[test]
fn an_answer_names_the_folders_of_its_question() {
    let asked = Asked::new("named");
    for (round, name) in ["one", "two"].iter().enumerate() {
        let (folder, other) = (Folder::new(name), Folder::new("other"));
        let input = format!("{}\nlast line {}", other.file("a.c"), folder.display());
        let (answer, count) = asked.ask(asked.tool().arg(folder.file("a.c")).input(&input));
        assert_eq!((answer, count), (input, 1), "round {round}");
    }
}

/// An answer that is not text is kept only if it names no folder.
#[test]
fn a_folder_in_bytes_is_not_kept() {
    let asked = Asked::new("bytes");
    let ask = |bytes: &[u8]| {
        let answer = asked.tool().input(bytes).output().expect("the tool starts");
        assert_eq!(answer.stdout, bytes);
        std::fs::read_to_string(asked.counter.join("count")).expect("a file").lines().count()
    };
    let plain = [0xff, 0xfe, 0x00];
    let naming = [&plain[..], support::root().as_os_str().as_encoded_bytes(), &plain].concat();
    assert_eq!([ask(&plain), ask(&plain)], [1, 1]);
    assert_eq!([ask(&naming), ask(&naming)], [2, 3]);
}

/// A temporary folder that the question does not name cannot be given back, so the answer is not kept.
#[test]
fn a_folder_that_only_the_answer_names_is_not_kept() {
    let asked = Asked::new("unnamed");
    let script = std::fs::read_to_string(&asked.tool).expect("the script");
    let folder = asked.folder.display();
    std::fs::write(&asked.tool, script.replace("exit 3", &format!("echo {folder}/x\nexit 3")))
        .expect("the script");
    for count in 1..4 {
        assert_eq!(asked.ask(asked.tool().arg("a")).1, count);
    }
}

/// The tool writes a file that the question does not declare, so the answer is not kept.
#[test]
fn an_undeclared_output_is_not_kept() {
    let asked = Asked::new("undeclared");
    let script = |written: &str| {
        let count = asked.counter.file("count");
        format!("#!/bin/sh\necho asked >> {count}\necho new > {written}\necho complaint >&2\nexit 3\n")
    };
    std::fs::write(&asked.tool, script("\"${1#*=}\"")).expect("the script");
    for count in 1..4 {
        let file = asked.folder.join(format!("out{count}"));
        assert_eq!(asked.ask(asked.tool().arg(format!("--output={}", file.display()))).1, count);
        assert!(file.exists());
        std::fs::remove_file(file).expect("a file");
    }
    // A file that no argument names, in a temporary folder that an argument names.
    std::fs::write(&asked.tool, script("\"${1%/*}/new\"")).expect("the script");
    for count in 4..6 {
        let folder = Folder::new("beside");
        assert_eq!(asked.ask(asked.tool().arg(folder.file("a"))).1, count);
    }
}
