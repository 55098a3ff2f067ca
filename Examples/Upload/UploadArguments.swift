import Errand
import ErrandResumableUpload
import Foundation

/// The parsed command line.
struct UploadArguments {
    struct Fault: Error {
        let message: String
    }

    private(set) var file = ""
    private(set) var url = ""
    private(set) var method = "POST"
    private(set) var headers = HTTPHeaders()
    private(set) var contentType = "application/octet-stream"
    private(set) var metadata: [String: String] = [:]
    private(set) var uploadProtocol = UploadProtocol.automatic
    private(set) var partBytes: Int64?
    private(set) var segments = 1
    private(set) var sendsDigest = false
    private(set) var state: URL?
    private(set) var tries = 5
    private(set) var timeout = 30
    private(set) var isQuiet = false
    private(set) var asksForHelp = false
    private(set) var asksForVersion = false

    static let usage = """
        usage: errand-upload [OPTION]... FILE URL

        Sends a file with resumable uploads for HTTP or with tus, depending on the server. After any interruption, run the
        same command again: the upload continues after the last byte that the server has. The response goes to standard
        output.

          -X, --method METHOD     the method of the first request; POST by default
          -H, --header LINE       sent with each request, such as "Authorization: Bearer …"; may be repeated
              --type TYPE         the media type of the file
              --metadata KEY=TEXT metadata about the file for a tus server; may be repeated
              --protocol NAME     automatic, draft8, draft6 or tus
              --part BYTES        the most bytes to send in one request
              --segments N        how many segments to send at once if a tus server can join them, 1 to 16; 1 by default
              --digest            sends the file's SHA-256, so the server can check it
              --state DIRECTORY   where unfinished uploads are recorded; $XDG_STATE_HOME/errand-upload by default
              --tries COUNT       how many attempts in a row may make no progress, 1 to 1000; 5 by default
              --timeout SECONDS   how many seconds the server may be silent; 30 by default
          -q, --quiet             shows only errors
              --version
              --help

        Exit status: 0 the server has the file; 1 a temporary failure, run the same command again; 2 a permanent failure.
        """

    init(_ arguments: [String]) throws(Fault) {
        var rest = arguments[...]
        var places: [String] = []
        while let argument = rest.popFirst() {
            func value() throws(Fault) -> String {
                guard let value = rest.popFirst(), !value.isEmpty else {
                    throw Fault(message: "\(argument) needs a value")
                }
                return value
            }
            switch argument {
            case "-X", "--method": method = try value().uppercased()
            case "-H", "--header": try add(header: value())
            case "--type": contentType = try value()
            case "--metadata":
                let (key, text) = try Self.pair(value(), "=")
                metadata[key] = text
            case "--protocol":
                guard let known = UploadProtocol(rawValue: try value()) else {
                    throw Fault(message: "--protocol must be automatic, draft8, draft6 or tus")
                }
                uploadProtocol = known
            case "--part": partBytes = Int64(try Self.number(value(), argument, 1...Int.max))
            case "--segments": segments = try Self.number(value(), argument, 1...16)
            case "--digest": sendsDigest = true
            case "--state": state = URL(filePath: try value(), directoryHint: .isDirectory).absoluteURL
            case "--tries": tries = try Self.number(value(), argument, 1...1000)
            case "--timeout": timeout = try Self.number(value(), argument, 1...86_400)
            case "-q", "--quiet": isQuiet = true
            case "--version": asksForVersion = true
            case "--help", "-h": asksForHelp = true
            case "--": places += rest; rest = []
            default:
                if argument.hasPrefix("-"), argument != "-" { throw Fault(message: "unknown option \(argument)") }
                places.append(argument)
            }
        }
        if asksForHelp || asksForVersion { return }
        guard places.count == 2, !places[0].isEmpty else { throw Fault(message: "expected a file and a URL") }
        (file, url) = (places[0], places[1])
        guard url.hasPrefix("http://") || url.hasPrefix("https://") else {
            throw Fault(message: "the URL has to begin with http:// or https://")
        }
        if state == nil { state = Self.standardState }
    }

    private mutating func add(header: String) throws(Fault) {
        let (name, value) = try Self.pair(header, ":")
        headers.add(HTTPHeaderName(name), String(value.drop { $0 == " " }))
    }

    private static func pair(_ text: String, _ separator: Character) throws(Fault) -> (String, String) {
        guard let mark = text.firstIndex(of: separator), mark > text.startIndex else {
            throw Fault(message: "expected a name and a value with “\(separator)” between them")
        }
        return (String(text[..<mark]), String(text[text.index(after: mark)...]))
    }

    private static func number(_ text: String, _ option: String, _ range: ClosedRange<Int>) throws(Fault) -> Int {
        guard let number = Int(text), range.contains(number) else {
            throw Fault(message: "\(option) takes a number from \(range.lowerBound) to \(range.upperBound)")
        }
        return number
    }

    private static var standardState: URL {
        let environment = ProcessInfo.processInfo.environment
        if let given = environment["XDG_STATE_HOME"], given.hasPrefix("/") {
            return URL(filePath: given, directoryHint: .isDirectory).appending(path: "errand-upload")
        }
        return FileManager.default.homeDirectoryForCurrentUser.appending(path: ".local/state/errand-upload")
    }
}
