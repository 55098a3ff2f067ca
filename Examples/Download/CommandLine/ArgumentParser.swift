/// Parses a command line: `--name value`, `--name=value`, `-x value`, `-xvalue`, `-qR`, and `--` before positional
/// arguments.
struct ArgumentParser {
    typealias Mistake = DownloadArguments.Mistake

    private var result = DownloadArguments()
    private var rest: ArraySlice<String>
    private var words: [String] = []
    private var output: String?
    private var directory: String?

    static func parse(_ arguments: [String]) throws(Mistake) -> DownloadArguments {
        var parser = ArgumentParser(rest: arguments[...])
        return try parser.parsed()
    }

    private init(rest: ArraySlice<String>) { self.rest = rest }

    private mutating func parsed() throws(Mistake) -> DownloadArguments {
        var isOverWithOptions = false
        while let argument = rest.popFirst() {
            if argument.contains("\u{FFFD}") { throw Mistake(message: "an argument is not valid UTF-8") }
            if isOverWithOptions || argument == "-" || !argument.hasPrefix("-") {
                words.append(argument)
            } else if argument == "--" {
                isOverWithOptions = true
            } else if argument.hasPrefix("--") {
                try long(argument)
            } else {
                try short(argument)
            }
        }
        if result.asksForHelp || result.asksForVersion { return result }
        try place()
        try check()
        return result
    }

    private mutating func long(_ argument: String) throws(Mistake) {
        let text = argument.dropFirst(2)
        let name = text.prefix { $0 != "=" }
        guard let option = OptionName(long: name) else { throw unknown("--\(name)") }
        let value = name.endIndex < text.endIndex ? String(text[text.index(after: name.endIndex)...]) : nil
        if value != nil, option.placeholder == nil { throw Mistake(message: "\(option.long) doesn't take a value") }
        try apply(option, value)
    }

    private mutating func short(_ argument: String) throws(Mistake) {
        var letters = argument.dropFirst()
        while let letter = letters.popFirst() {
            guard let option = OptionName(short: letter) else {
                throw unknown(letters.isEmpty ? "-\(letter)" : argument)
            }
            if option.placeholder != nil {
                return try apply(option, letters.isEmpty ? nil : String(letters))
            }
            try apply(option, nil)
        }
    }

    private func unknown(_ option: String) -> Mistake {
        let shown = TextLayout.printable(option)
        return Mistake(
            message: "the option \(shown) is unknown" + (Suggestion.text(for: option).map { "; \($0)" } ?? ""))
    }

    private mutating func apply(_ option: OptionName, _ given: String?) throws(Mistake) {
        var value = ""
        if option.placeholder != nil {
            guard let found = given ?? rest.popFirst() else { throw Mistake(message: "\(option.long) needs a value") }
            if found.isEmpty { throw Mistake(message: "\(option.long) needs a value") }
            value = found
        }
        switch option {
        case .output: output = value
        case .directory: directory = value
        case .overwrite: result.overwrites = true
        case .noClobber: result.skipsExisting = true
        case .remoteTime: result.keepsRemoteTime = true
        case .input: result.input = value
        case .parallel: result.parallel = try number(value, option, 1...16)
        case .segments: result.segments = try number(value, option, 1...16)
        case .sha256: result.sha256 = try Self.digest(value)
        case .header: result.headers.append(value)
        case .user: result.user = value
        case .netrc: result.usesNetrc = true
        case .netrcFile: result.netrcFile = value
        case .proxy: result.proxy = try Self.proxy(value)
        case .noProxy: result.noProxy += value.split(separator: ",").map { String($0.drop { $0 == " " }) }
        case .cacert: result.caFile = value
        case .ipv4: result.family = 4
        case .ipv6: result.family = 6
        case .limitRate: result.rateLimit = try Self.rate(value)
        case .timeout: result.timeout = try number(value, option, 1...86_400)
        case .maxTime: result.maximumTime = try number(value, option, 1...31_536_000)
        case .tries: result.tries = try number(value, option, 1...1000)
        case .quiet: result.isQuiet = true
        case .json: result.isJSON = true
        case .version: result.asksForVersion = true
        case .help: result.asksForHelp = true
        }
    }

    private func number(_ text: String, _ option: OptionName, _ range: ClosedRange<Int>) throws(Mistake) -> Int {
        guard let number = Int(text), range.contains(number) else {
            throw Mistake(
                message: "\(option.long) takes a whole number from \(range.lowerBound) to \(range.upperBound)")
        }
        return number
    }

    private static func digest(_ text: String) throws(Mistake) -> String {
        guard text.utf8.count == 64, text.allSatisfy({ $0.isASCII && $0.isHexDigit }) else {
            throw Mistake(message: "--sha256 takes 64 hexadecimal digits")
        }
        return text
    }

    private static func proxy(_ text: String) throws(Mistake) -> String {
        let url = text.contains("://") ? text : "http://\(text)"
        let scheme = url.prefix { $0 != ":" }.lowercased()
        guard ["http", "https", "socks4", "socks4a", "socks5", "socks5h"].contains(scheme),
            url.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F }), !url.hasSuffix("://")
        else { throw Mistake(message: "--proxy takes a URL such as http://proxy.example.com:3128") }
        return url
    }

    /// Parses `2M`, `1.5MiB`, `500k` or `65536` as bytes per second.
    static func rate(_ text: String) throws(Mistake) -> Double {
        var digits = text[...]
        for ending in ["/s", "iB", "B", "b"] where digits.hasSuffix(ending) { digits = digits.dropLast(ending.count) }
        var factor = 1.0
        if let unit = digits.last, let power = ["k", "m", "g"].firstIndex(of: unit.lowercased()) {
            factor = [1024, 1_048_576, 1_073_741_824][power]
            digits = digits.dropLast()
        }
        guard digits.allSatisfy({ $0.isASCII && ($0.isNumber || $0 == ".") }), let number = Double(digits),
            number * factor >= 1, number * factor <= 1e15
        else { throw Mistake(message: "--limit-rate takes bytes a second, such as 65536, 500K or 2M") }
        return number * factor
    }

    /// Separates the URLs from a trailing destination.
    private mutating func place() throws(Mistake) {
        if output != nil, directory != nil {
            throw Mistake(message: "--output and --directory can't be combined; put the directory into --output")
        }
        if let last = words.last, output == nil, directory == nil, !Self.isURL(last),
            words.count > 1 || result.input != nil
        {
            words.removeLast()
            if last.isEmpty { throw Mistake(message: "the destination is empty") }
            if last.contains("://") { throw Mistake(message: notURL(last)) }
            result.place = last == "-" ? .standardOutput : .path(last)
        }
        if let output { result.place = output == "-" ? .standardOutput : .path(output) }
        if let directory { result.place = .directory(directory) }
        for word in words where !Self.isURL(word) { throw Mistake(message: notURL(word)) }
        result.urls = words
    }

    private func notURL(_ word: String) -> String {
        if word.isEmpty { return "a URL is empty" }
        let shown = TargetURL.masked(word)
        let host = word.prefix { $0 != "/" && $0 != ":" }
        let isLikely = !word.contains("://") && host.contains(".") && !host.hasPrefix(".") && !host.hasSuffix(".")
        return "\(shown) is not an http or https URL" + (isLikely ? "; did you mean https://\(shown)?" : "")
    }

    static func isURL(_ text: String) -> Bool {
        let start = text.prefix(8).lowercased()
        return start.hasPrefix("http://") || start.hasPrefix("https://")
    }

    private func check() throws(Mistake) {
        if result.urls.isEmpty, result.input == nil { throw Mistake(message: "a URL is needed") }
        let isMany = result.urls.count > 1 || result.input != nil
        if isMany, result.sha256 != nil { throw Mistake(message: "--sha256 is for one URL") }
        if isMany, let output, output != "-" { throw Mistake(message: "--output is for one URL; see --directory") }
        if result.overwrites, result.skipsExisting {
            throw Mistake(message: "--overwrite and --no-clobber can't be combined")
        }
        if result.place == .standardOutput {
            for (isGiven, name) in [
                (result.sha256 != nil, OptionName.sha256), (result.keepsRemoteTime, .remoteTime),
                (result.segments > 1, .segments), (result.skipsExisting, .noClobber),
            ] where isGiven {
                throw Mistake(message: "\(name.long) needs a file, and the destination is standard output")
            }
        }
    }
}
