import Errand
import ErrandResumableDownload
import ErrandSupport

/// Why a URL was not downloaded, in sentences, and how the program ends for it.
struct Failure: Equatable {
    var message: String
    var status: ExitStatus

    /// - Parameters:
    ///   - url: masked.
    ///   - path: the file, or the directory that it goes to; nil for standard output.
    ///   - kept: bytes from which the same command resumes.
    init(_ error: any Error, url: String, host: String, path: String?, kept: Int64, arguments: DownloadArguments) {
        let (what, advice) = Self.explain(error, host: host, path: path, arguments)
        status = Self.status(of: error)
        var text = "\(url) was not downloaded: \(Readable.sizes(in: Self.oneLine(what)))."
        if let advice { text += " \(advice)." }
        if kept > 0 {
            text += " \(Readable.size(kept)) are kept, and the same command resumes from there."
        } else if advice == nil, status == .mayPass {
            text += " Run the same command again."
        }
        message = text
    }

    static func status(of error: any Error) -> ExitStatus {
        if error is CancellationError { return .interrupted }
        if let error = error as? DownloadError { return error.isRetryable ? .mayPass : .failed }
        guard let error = error as? ErrandError else { return .failed }
        if error.isCancelled { return .interrupted }
        let mayPass: Set<ErrandError.Code> = [.transportFailed, .deadlineExceeded]
        return error.isRetryable || mayPass.contains(error.code) ? .mayPass : .failed
    }

    private static func explain(
        _ error: any Error, host: String, path: String?, _ arguments: DownloadArguments
    ) -> (what: String, advice: String?) {
        if let error = error as? DownloadError { return explain(error, path: path ?? "standard output") }
        if let error = error as? ErrandError { return explain(error, host: host, arguments) }
        return ("an unexpected failure, \(ErrorText.brief(error))", nil)
    }

    private static func explain(_ error: DownloadError, path: String) -> (String, String?) {
        let path = TextLayout.printable(path)
        let parent = path.lastIndex(of: "/").map { $0 == path.startIndex ? "/" : String(path[..<$0]) } ?? "."
        let directory = InputFile.isDirectory(path) ? path : parent
        switch error.code {
        case .noDirectory: return ("the directory \(parent) does not exist", "Create it, or choose another")
        case .notAFile: return ("\(path) cannot be replaced: \(error.message)", "Choose another destination")
        case .noPermission:
            return ("\(path) cannot be written: \(error.message)", "Choose a directory that you may write to")
        case .noSpace: return ("there is no room for \(path): \(error.message)", "Free space in \(directory)")
        case .busy:
            return ("another download writes to \(path)", "Wait for it to end, then run the same command again")
        case .checksumMismatch:
            return ("the file is not the expected one: \(error.message)", "Check the URL and the value of --sha256")
        case .file: return ("\(path) cannot be written: \(error.message)", nil)
        default: return (error.message, nil)
        }
    }

    private static func explain(
        _ error: ErrandError, host: String, _ arguments: DownloadArguments
    ) -> (String, String?) {
        switch error.code {
        case .unacceptableStatus:
            let status = error.response?.status ?? 0
            var what = "the server responded with \(StatusText.of(status))"
            if error.isRetryable, let seconds = error.response?.headers["Retry-After"].flatMap({ Int64($0) }),
                seconds > 60
            {
                what += " and asks to wait for \(Readable.time(seconds))"
            }
            return (what, StatusText.advice(for: status))
        case .nameLookupFailed: return ("the host \(host) was not found", "Check its name and the network")
        case .cannotConnect: return (sentence(error.message, code: "cannotConnect"), "Check the host and the port")
        case .timedOut:
            return (
                "the server was silent for \(Readable.time(Int64(arguments.timeout)))",
                "A longer --timeout waits longer"
            )
        case .deadlineExceeded: return ("it takes longer than --max-time allows", nil)
        case .connectionLost: return (sentence(error.message, code: "connectionLost"), nil)
        case .truncated: return (sentence(error.message, code: "truncated"), nil)
        case .insecureConnection:
            return (
                "there is no secure connection: \(error.message)",
                "Check the host; --cacert FILE trusts another certificate authority"
            )
        case .transportUnavailable: return (error.message, "Install libcurl (libcurl4)")
        default: return (error.message, nil)
        }
    }

    /// A few words, for an attempt that another one follows.
    static func brief(_ error: any Error) -> String {
        guard let error = error as? ErrandError else { return ErrorText.brief(error) }
        if let response = error.response, error.code == .unacceptableStatus {
            return "the server responded with \(StatusText.of(response.status))"
        }
        return sentence(error.message, code: error.code.description)
    }

    /// What a transport says, in our words where libcurl's do not say it well.
    static func sentence(_ text: String, code: String) -> String {
        var text = oneLine(text)
        for beginning in [
            "Transferred a partial file: ", "Couldn't connect to server: ",
            "Failure when receiving data from the peer: ",
        ]
        where text.hasPrefix(beginning) { text.removeFirst(beginning.count) }
        let ending = ": Couldn't connect to server"
        if text.hasSuffix(ending) { text.removeLast(ending.count) }
        text = Readable.sizes(in: text)
        switch code {
        case "truncated": return "the connection ended early (\(text))"
        case "connectionLost": return "the connection was lost (\(text))"
        case "cannotConnect": return "there is no connection (\(text))"
        case "timedOut": return "the server is silent"
        default: return text
        }
    }

    static func oneLine(_ text: String) -> String {
        TextLayout.printable(String(text.map { $0.isNewline ? " " : $0 })).trimmedEnd
    }
}

extension String {
    /// Without the full stop and the blanks that another full stop follows.
    fileprivate var trimmedEnd: String {
        var text = self
        while let last = text.last, last == "." || last == " " { text.removeLast() }
        return text
    }
}

/// Statuses of HTTP in words.
enum StatusText {
    static func of(_ status: Int) -> String { names[status].map { "\(status) \($0)" } ?? "status \(status)" }

    static func advice(for status: Int) -> String? {
        switch status {
        case 401: "Give valid credentials with --user, --netrc or --header"
        case 403: "Check the URL and the credentials"
        case 404, 410: "Check the URL"
        case 407: "Give the proxy's credentials: --proxy http://NAME:PASSWORD@HOST:PORT"
        case 408, 425, 429, 500, 502, 503, 504: "Run the same command again later"
        default: nil
        }
    }

    private static let names = [
        400: "Bad Request", 401: "Unauthorized", 402: "Payment Required", 403: "Forbidden", 404: "Not Found",
        405: "Method Not Allowed", 406: "Not Acceptable", 407: "Proxy Authentication Required", 408: "Request Timeout",
        409: "Conflict", 410: "Gone", 411: "Length Required", 412: "Precondition Failed", 413: "Content Too Large",
        414: "URI Too Long", 415: "Unsupported Media Type", 416: "Range Not Satisfiable", 417: "Expectation Failed",
        421: "Misdirected Request", 422: "Unprocessable Content", 423: "Locked", 425: "Too Early",
        426: "Upgrade Required", 428: "Precondition Required", 429: "Too Many Requests",
        431: "Request Header Fields Too Large", 451: "Unavailable For Legal Reasons", 500: "Internal Server Error",
        501: "Not Implemented", 502: "Bad Gateway", 503: "Service Unavailable", 504: "Gateway Timeout",
        505: "HTTP Version Not Supported", 507: "Insufficient Storage", 511: "Network Authentication Required",
    ]
}
