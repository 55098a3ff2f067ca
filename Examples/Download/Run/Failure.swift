import Errand
import ErrandEssentials
import ErrandResumableDownload

/// Why a URL wasn't downloaded, in sentences, and the resulting exit status.
struct Failure: Equatable {
    var message: String
    var status: ExitStatus

    /// - Parameters:
    ///   - url: masked.
    ///   - path: the file, or its directory; nil for standard output.
    ///   - kept: the number of bytes that the same command would resume from.
    init(_ error: any Error, url: String, host: String, path: String?, kept: Int64, arguments: DownloadArguments) {
        let (what, advice) = Self.explain(error, host: host, path: path, arguments)
        status = Self.status(of: error)
        var text = "\(url) was not downloaded: \(Readable.sizes(in: Self.oneLine(what)))."
        if let advice { text += " \(advice)." }
        if kept > 0 {
            text += " \(Readable.size(kept)) are kept, and the same command resumes from there."
        } else if advice == nil, status == .retryable {
            text += " Run the same command again."
        }
        message = text
    }

    static func status(of error: any Error) -> ExitStatus {
        if error is CancellationError { return .interrupted }
        if let error = error as? TransferError { return error.isRetryable ? .retryable : .failed }
        guard let error = error as? ErrandError else { return .failed }
        if error.isCancelled { return .interrupted }
        let retryable: Set<ErrandError.Code> = [.transportFailed, .deadlineExceeded]
        return error.isRetryable || retryable.contains(error.code) ? .retryable : .failed
    }

    private static func explain(
        _ error: any Error, host: String, path: String?, _ arguments: DownloadArguments
    ) -> (what: String, advice: String?) {
        if let error = error as? TransferError { return (error.message, advice(for: error.code, path: path)) }
        if let error = error as? ErrandError { return explain(error, host: host, arguments) }
        return ("an unexpected failure, \(TransferNotice.reason(for: error))", nil)
    }

    private static func advice(for code: TransferError.Code, path: String?) -> String? {
        switch code {
        case .noDirectory: "Create it, or choose another"
        case .notAFile: "Choose another destination"
        case .noPermission: "Choose a directory that you may write to"
        case .noSpace: path.map { "Free space in \(directory(of: $0))" } ?? "Free space"
        case .busy: "Wait for it to end, then run the same command again"
        case .expectedChecksumMismatch: "Check the URL and the value of --sha256"
        default: nil
        }
    }

    private static func directory(of path: String) -> String {
        if InputFile.isDirectory(path) { return TextLayout.printable(path) }
        let parent = path.lastIndex(of: "/").map { $0 == path.startIndex ? "/" : String(path[..<$0]) } ?? "."
        return TextLayout.printable(parent)
    }

    private static func explain(
        _ error: ErrandError, host: String, _ arguments: DownloadArguments
    ) -> (String, String?) {
        switch error.code {
        case .unacceptableStatus:
            var what = sentence(error)
            let wait = error.response?.headers.retryAfter(from: Date())
            if error.isRetryable, let wait, wait > .seconds(60) {
                what += " and asks to wait for \(Readable.time(wait.components.seconds))"
            }
            return (what, advice(forStatus: error.response?.status ?? 0))
        case .nameLookupFailed: return ("the host \(host) was not found", "Check its name and the network")
        case .cannotConnect: return (sentence(error), "Check the host and the port")
        case .timedOut:
            return (
                "the server was silent for \(Readable.time(Int64(arguments.timeout)))",
                "A longer --timeout waits longer"
            )
        case .deadlineExceeded: return ("it takes longer than --max-time allows", nil)
        case .insecureConnection:
            return (
                "the connection isn't secure: \(error.message)",
                "Check the host; --cacert FILE trusts another certificate authority"
            )
        case .transportUnavailable: return (error.message, "Install libcurl (libcurl4)")
        default: return (sentence(error), nil)
        }
    }

    /// Why an attempt failed.
    static func sentence(_ error: any Error) -> String { sentence(TransferNotice.reason(for: error)) }

    /// A reason on one line, with readable sizes and without libcurl's own message, which would repeat it.
    static func sentence(_ reason: String) -> String {
        var text = oneLine(reason)
        for words in [
            "Transferred a partial file: ", "Couldn't connect to server: ", ": Couldn't connect to server",
            "Failure when receiving data from the peer: ",
        ] { text = text.replacing(words, with: "") }
        return Readable.sizes(in: text)
    }

    private static func advice(forStatus status: Int) -> String? {
        switch status {
        case 401: "Give valid credentials with --user, --netrc or --header"
        case 403: "Check the URL and the credentials"
        case 404, 410: "Check the URL"
        case 407: "Give the proxy's credentials: --proxy http://NAME:PASSWORD@HOST:PORT"
        case 408, 425, 429, 500, 502, 503, 504: "Run the same command again later"
        default: nil
        }
    }

    static func oneLine(_ text: String) -> String {
        TextLayout.printable(String(text.map { $0.isNewline ? " " : $0 })).trimmedEnd
    }
}

extension String {
    /// Without a trailing period and whitespace, so the caller can add a period.
    fileprivate var trimmedEnd: String {
        var text = self
        while let last = text.last, last == "." || last == " " { text.removeLast() }
        return text
    }
}
