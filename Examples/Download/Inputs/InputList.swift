import ErrandEssentials

/// A list of URLs, one per line. Empty lines and lines that start with # are ignored.
enum InputList {
    /// The maximum size of a list, in bytes.
    static let limit = 16 << 20

    /// `name` appears in messages: "urls.txt, line 3: …".
    static func parse(_ data: Data, name: String) throws(DownloadArguments.Mistake) -> [String] {
        var urls: [String] = []
        var text = String(decoding: data, as: UTF8.self)[...]
        if text.first == "\u{FEFF}" { text.removeFirst() }
        let lines = text.split(omittingEmptySubsequences: false) { $0.isNewline }
        for (index, line) in lines.enumerated() {
            let url = line.trimmingPrefix { $0.isWhitespace }
            if url.isEmpty || url.hasPrefix("#") { continue }
            var end = url[...]
            while end.last?.isWhitespace == true { end.removeLast() }
            guard ArgumentParser.isURL(String(end)) else {
                throw .init(
                    message:
                        "\(name), line \(index + 1): \(TargetURL.masked(String(end.prefix(200)))) is not an http or https URL"
                )
            }
            urls.append(String(end))
        }
        if urls.isEmpty { throw .init(message: "\(name) doesn't contain a URL") }
        return urls
    }

    /// Reads the file, or standard input for "-". Blocks.
    static func read(_ path: String) throws(DownloadArguments.Mistake) -> [String] {
        let name = path == "-" ? "standard input" : TextLayout.printable(path)
        let data = try InputFile.read(path == "-" ? "/dev/stdin" : path, limit: limit, for: name)
        return try parse(data, name: name)
    }
}
