import Errand
import ErrandResumableUpload
import Foundation

/// Writes the response to standard output, and everything else to standard error.
struct UploadReporter {
    private let isQuiet: Bool
    private let isScreen: Bool

    init(_ arguments: UploadArguments) {
        isQuiet = arguments.isQuiet
        isScreen = !arguments.isQuiet && isatty(2) != 0
    }

    /// Redraws the progress line.
    func show(_ progress: TransferStatus) {
        guard isScreen else { return }
        let share = progress.fraction.map { " \(Int($0 * 100)) %" } ?? ""
        let left = progress.timeLeft.map { ", \($0.components.seconds) s left" } ?? ""
        let rate = String(format: "%.1f MB/s", progress.rate / 1e6)
        Self.write("\r\u{1B}[K\(progress.transferred) bytes\(share), \(rate)\(left)", to: .standardError)
    }

    func say(_ text: String) {
        if !isQuiet { line(text) }
    }

    func fail(_ text: String) { line("errand-upload: \(text)") }

    func end(_ response: HTTPResponse) {
        if isScreen { Self.write("\n", to: .standardError) }
        if let location = response.location { say("the server calls it \(location.absoluteString)") }
        if let body = response.body.data, !body.isEmpty { Self.write(body, to: .standardOutput) }
    }

    private func line(_ text: String) {
        Self.write((isScreen ? "\r\u{1B}[K" : "") + text + "\n", to: .standardError)
    }

    static func write(_ text: String, to handle: FileHandle) { write(Data(text.utf8), to: handle) }

    /// A closed output stream doesn't fail the upload.
    private static func write(_ data: Data, to handle: FileHandle) { try? handle.write(contentsOf: data) }
}
