// The code of docs/log.md.
import Errand
import ErrandLoadingIndicatorLog
import ErrandSystemTransport
import Foundation

private nonisolated struct Logger {
    func info(_ text: String) {}
}

private func install() {
    let log = RequestLog(.line)
    let agent = NetworkAgent(baseURL: "https://api.example.com", transport: .system, accessories: [log])
    // #7 GET https://api.example.com/users/7?token=••• → 200, network, HTTP/2, 12.3 ms, 512 bytes
    _ = agent
}

private func redact() {
    var redaction = Redaction()
    redaction.shownHeaders.insert("X-Trace")
    redaction.secretNames.insert("customer")
    redaction.shownNames.insert("pagetoken")
    let strict = RequestLog(.headers, redaction: redaction)
    _ = strict
}

private func sinks(directory: URL, logger: Logger) {
    let file = directory.appending(path: "errand.log")
    let toFile = RequestLog(.headers, to: FileSink(at: file, maximumBytes: 1_000_000, maximumOldFiles: 3))
    let toLogger = RequestLog(to: ClosureSink { logger.info("\($0.line)") })  // swift-log
    _ = (toFile, toLogger)
}

struct Failures: LogSink {
    func write(_ record: LogRecord) {
        if record.outcome == .failure { print(record) }
    }
}

private func curl(_ agent: NetworkAgent) throws {
    let request = try agent.httpRequest(for: GetUser(id: 7))
    print(request.curlCommand())
}
