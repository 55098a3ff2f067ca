/// The text of `--help`, laid out for the terminal's width.
enum Usage {
    static let synopsis = [
        "errand-download [OPTION]... URL... [DESTINATION]",
        "errand-download [OPTION]... --input FILE [DESTINATION]",
    ]

    /// The groups of options, each with its title.
    static let groups: [(title: String, options: [OptionName])] = [
        ("Destination", [.output, .directory, .overwrite, .noClobber, .remoteTime]),
        ("Source", [.input, .parallel, .segments, .sha256]),
        ("Access", [.header, .user, .netrc, .netrcFile, .proxy, .noProxy, .cacert, .ipv4, .ipv6]),
        ("Time and rate", [.limitRate, .timeout, .maxTime, .tries]),
        ("Output", [.quiet, .json, .version, .help]),
    ]

    static func text(columns: Int) -> String {
        let columns = min(max(columns, 40), 100)
        func paragraph(_ text: String) -> String { TextLayout.wrapped(text, columns: columns).joined(separator: "\n") }
        var lines = ["usage: \(synopsis[0])", "       \(synopsis[1])", ""].flatMap {
            TextLayout.wrapped($0, columns: columns, hanging: 9)
        }
        lines += [
            paragraph(
                "Downloads each URL into a file. After any interruption, run the same command again: the download "
                    + "resumes where it stopped."), "",
            paragraph(
                "DESTINATION is a file, an existing directory, or - for standard output (which can't be resumed). If "
                    + "you leave it out, the file goes to the current directory, named by the server's "
                    + "Content-Disposition or by the final URL."), "",
            paragraph(
                "A file that you name is replaced when the download is complete. A name from the server or the URL "
                    + "never replaces a file; a number is added to the name instead."),
        ]
        for group in groups {
            lines += ["", "\(group.title):"]
            for option in group.options { lines += entry(option, columns: columns) }
        }
        lines += [
            "",
            paragraph(
                "The path of each file is written to standard output, progress and messages to standard error."), "",
            "Exit status:",
        ]
        for status in ExitStatus.allCases {
            let meaning = TextLayout.wrapped(status.meaning, columns: columns - 6)
            lines.append("  \(status.rawValue)".padding(6) + (meaning.first ?? ""))
            lines += meaning.dropFirst().map { "      " + $0 }
        }
        return lines.joined(separator: "\n") + "\n"
    }

    /// `  -o, --output FILE   write to FILE`. For a long option, the explanation goes on separate lines.
    private static func entry(_ option: OptionName, columns: Int) -> [String] {
        let indent = columns < 60 ? 8 : 26
        let head =
            "  " + (option.short.map { "-\($0), " } ?? "    ") + option.long
            + (option.placeholder.map { " \($0)" } ?? "")
        let help = TextLayout.wrapped(option.help, columns: columns - indent)
        let margin = String(repeating: " ", count: indent)
        guard head.count + 2 <= indent, let first = help.first else { return [head] + help.map { margin + $0 } }
        return [head.padding(indent) + first] + help.dropFirst().map { margin + $0 }
    }
}

extension OptionName {
    /// One sentence for `--help`.
    var help: String {
        switch self {
        case .output: "the file to write, for one URL; - for standard output"
        case .directory: "an existing directory for the files"
        case .overwrite: "replaces existing files even if the server or the URL names them"
        case .noClobber: "skips a URL whose file exists already, without asking the server"
        case .remoteTime: "gives the file the server's date (Last-Modified)"
        case .input: "reads URLs from FILE, one a line, # for comments; - for standard input"
        case .parallel: "how many URLs are downloaded at once, 1 to 16; 4 by default"
        case .segments: "how many ranges of one file are downloaded at once, 1 to 16; 1 by default"
        case .sha256: "the SHA-256 that the file must have, in hexadecimal, for one URL"
        case .header:
            "a header for the hosts of the URLs, not for other hosts after a redirect; @FILE reads a file, one header a line"
        case .user:
            "credentials for the URLs' hosts; without a password, looks it up with --netrc or asks for it"
        case .netrc: "takes credentials from ~/.netrc"
        case .netrcFile: "takes credentials from FILE"
        case .proxy: "http, https, socks4, socks4a, socks5 or socks5h; the environment's (https_proxy …) by default"
        case .noProxy: "hosts to connect to directly, separated by commas; * for all"
        case .cacert: "trusts only the certificate authorities in FILE (PEM)"
        case .ipv4: "connects over IPv4 only"
        case .ipv6: "connects over IPv6 only"
        case .limitRate:
            "the most bytes per second for all downloads together, such as 500K or 1.5M; K, M and G are powers of 1024"
        case .timeout: "how many seconds the server may be silent; 15 by default"
        case .maxTime: "the most seconds for each URL, including all attempts and waits"
        case .tries: "how many attempts in a row may make no progress, 1 to 1000; 5 by default"
        case .quiet: "shows no progress; errors are still shown"
        case .json: "writes events as JSON to standard output, one object a line"
        case .version: "shows the version"
        case .help: "shows this help"
        }
    }
}
