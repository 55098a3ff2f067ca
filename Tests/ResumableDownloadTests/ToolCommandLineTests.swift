#if os(Linux) || os(macOS)
import Testing

@testable import errand_download

@Suite("errand-download: the command line", .leakChecked) struct ToolCommandLineTests {
    private let url = "https://example.com/film.mp4"

    private func parse(_ arguments: String...) throws -> DownloadArguments { try ArgumentParser.parse(arguments) }

    private func mistake(_ arguments: String...) -> String? {
        do {
            _ = try ArgumentParser.parse(arguments)
            return nil
        } catch { return error.message }
    }

    @Test("every spelling of an option has the same meaning")
    func spellings() throws {
        for words in [
            ["--output", "a", "--quiet", "--remote-time", url], ["--output=a", "-qR", url], ["-oa", "-q", "-R", url],
            ["-qRo", "a", url], [url, "-o", "a", "-R", "-q"], ["-qRoa", "--", url],
        ] {
            let arguments = try ArgumentParser.parse(words)
            #expect(arguments.place == .path("a") && arguments.isQuiet && arguments.keepsRemoteTime, "\(words)")
            #expect(arguments.urls == [url])
        }
        #expect(try parse("--output=-x", url).place == .path("-x"))
        #expect(try parse(url, "--", "-x").place == .path("-x"))
        #expect(mistake("--quiet=1", url) == "--quiet doesn't take a value")
        #expect(mistake(url, "--output") == "--output needs a value")
        #expect(mistake("--output=", url) == "--output needs a value")
    }

    @Test("URLs, followed by a destination")
    func places() throws {
        #expect(try parse(url).place == .here)
        #expect(try parse(url, "a").place == .path("a"))
        #expect(try parse(url, "-").place == .standardOutput)
        #expect(try parse("-o", "-", url, url).place == .standardOutput)
        #expect(try parse("-d", "films", url, url).place == .directory("films"))
        #expect(try parse(url, "HTTP://example.com/", "films").urls.count == 2)
        #expect(try parse("--input", "-", "films").place == .path("films"))
        #expect(mistake() == "a URL is needed")
        #expect(mistake("-o", "a", url, url)?.contains("one URL") == true)
        #expect(mistake("-o", "a", "-d", "b", url)?.contains("can't be combined") == true)
        #expect(mistake("example.com/a")?.contains("did you mean https://example.com/a?") == true)
        #expect(mistake("film.mp4", url)?.contains("not an http or https URL") == true)
        #expect(mistake(url, "ftp://me:secret@example.com/a")?.contains("secret") == false)
        #expect(mistake(url, "-", "--sha256", String(repeating: "0", count: 64))?.contains("standard output") == true)
        #expect(mistake(url, "a\u{FFFD}") == "an argument is not valid UTF-8")
    }

    @Test("values are checked before anything is sent")
    func values() throws {
        #expect(try parse("--limit-rate", "2M", url).rateLimit == 2_097_152)
        #expect(try parse("--limit-rate", "1.5KiB/s", url).rateLimit == 1536)
        #expect(try parse("--limit-rate", "65536", url).rateLimit == 65_536)
        #expect(try parse("--proxy", "proxy:3128", url).proxy == "http://proxy:3128")
        #expect(try parse("--no-proxy", "a, b", "--no-proxy=c", url).noProxy == ["a", "b", "c"])
        for (option, value) in [
            ("--limit-rate", "0"), ("--limit-rate", "fast"), ("--limit-rate", "1e9"), ("--limit-rate", "-1"),
            ("--limit-rate", "M"), ("--parallel", "0"), ("--parallel", "17"), ("--segments", "x"), ("--tries", "0"),
            ("--timeout", "1.5"), ("--sha256", "abc"), ("--proxy", "ftp://p"), ("--max-time", "0"),
            ("--limit-rate", "1..5M"), ("--limit-rate", "999999999999999999999"),
        ] { #expect(mistake(option, value, url)?.hasPrefix("\(option) takes") == true, "\(option) \(value)") }
    }

    @Test("an unknown option suggests the nearest option, or its name here")
    func suggestions() {
        for (wrong, right) in [
            ("--queit", "--quiet"), ("--limitrate", "--limit-rate"), ("--ouput", "--output"), ("--heade", "--header"),
            ("--silent", "--quiet"), ("--max-tries=3", "--tries"), ("--split", "--segments"), ("-P", "--directory"),
            ("--insecure", "--cacert"), ("--parallell", "--parallel"),
        ] { #expect(mistake(wrong, url)?.contains(right) == true, "\(wrong)") }
        #expect(mistake("--zzzzzzzz", url) == "the option --zzzzzzzz is unknown")
        #expect(mistake("-k", url)?.contains("always verified") == true)
        #expect(Suggestion.distance("ab", "ba") == 1 && Suggestion.distance("", "abc") == 3)
    }

    @Test("the help lists every option and fits the terminal", arguments: [40, 60, 79, 200])
    func help(columns: Int) {
        let text = Usage.text(columns: columns)
        for option in OptionName.allCases { #expect(text.contains(option.long), "\(option)") }
        #expect(Set(Usage.groups.flatMap(\.options)) == Set(OptionName.allCases))
        let widest = text.split(separator: "\n").map { TextLayout.width(String($0)) }.max()
        #expect((widest ?? 0) <= columns)
        for status in ExitStatus.allCases { #expect(text.contains("\n  \(status.rawValue) ")) }
        let letters = OptionName.allCases.compactMap(\.short)
        #expect(Set(letters).count == letters.count)
    }
}
#endif
