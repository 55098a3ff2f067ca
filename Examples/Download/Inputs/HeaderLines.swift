import Errand
import ErrandEssentials

/// The `--header` values, each given inline or in a file.
enum HeaderLines {
    typealias Mistake = DownloadArguments.Mistake

    /// Parses the values. Marks all fields as sensitive: no description shows a value, and no redirect to another
    /// origin carries one.
    static func parse(_ arguments: [String]) throws(Mistake) -> HTTPHeaders {
        var headers = HTTPHeaders()
        for argument in arguments {
            guard argument.hasPrefix("@") else {
                try add(argument, to: &headers, "--header takes 'Name: value' or @FILE")
                continue
            }
            let path = String(argument.dropFirst())
            let name = TextLayout.printable(path)
            let text = String(decoding: try InputFile.read(path, limit: 1 << 20, for: name), as: UTF8.self)
            for (index, line) in text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline).enumerated()
            where !line.allSatisfy(\.isWhitespace) {
                try add(
                    String(line), to: &headers, "\(name), line \(index + 1): expected a header such as 'Name: value'")
            }
        }
        return headers
    }

    private static func add(_ line: String, to headers: inout HTTPHeaders, _ complaint: String) throws(Mistake) {
        guard let colon = line.firstIndex(of: ":") else { throw Mistake(message: complaint) }
        let name = HTTPHeaderName(String(line[..<colon]))
        let value = line[line.index(after: colon)...].drop { $0 == " " || $0 == "\t" }
        guard name.isValid, !value.unicodeScalars.contains(where: { $0.value < 0x20 && $0 != "\t" || $0.value == 0x7F })
        else { throw Mistake(message: complaint) }
        if ["range", "if-range", "accept-encoding"].contains(line[..<colon].lowercased()) {
            throw Mistake(message: "the header \(line[..<colon]) is set by the download itself")
        }
        headers.add(name, String(value), sensitive: true)
    }
}
