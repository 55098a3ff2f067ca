import Errand
import ErrandSupport

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// One call of a download: tries until the file is whole, or until there is no hope.
struct DownloadRun: Sendable {
    let request: any DownloadRequest
    let exchange: Exchange
    let next: Next
    let options: DownloadOptions
    let destination: Destination
    let file: PartialFile
    let meter: ProgressMeter
    let control: DownloadControl
    let digest: FileDigest
    /// Whether the request may be sent more than once.
    let isRepeatable: Bool

    /// What is asked of the next try.
    struct Plan: Sendable {
        /// Whether the server may be asked for ranges: not after it lied about one.
        var usesRanges = true
        var segments: Int
    }

    /// How a try ended.
    enum Outcome: Sendable {
        case whole(HTTPResponse)
        case refused(HTTPResponse)
        case startOver(String, ranges: Bool)
    }

    init(_ request: any DownloadRequest, _ exchange: Exchange, _ next: Next, _ options: DownloadOptions) throws {
        guard exchange.http.method != .head else { throw DownloadError(.invalidRequest, "HEAD brings no file") }
        if exchange.http.headers.contains("Range") || exchange.http.headers.contains("If-Range") {
            throw DownloadError(.invalidRequest, "a download asks for ranges by itself")
        }
        let expected = try request.checksum.map { checksum in
            guard let bytes = checksum.bytes else {
                throw DownloadError(.invalidRequest, "the checksum is not 64 hexadecimal digits")
            }
            return bytes
        }
        self.request = request
        self.next = next
        self.options = options
        isRepeatable = exchange.http.method == .get
        destination = try Destination(request.destination)
        let key = request.downloadKey ?? Self.key(exchange.tags[CacheKeyURL.self] ?? exchange.http.url)
        let name = Hexadecimal.text(SHA256Digest.digest(of: Array("\(exchange.http.method)\n\(key)".utf8)))
        file = try PartialFile(
            destination, request: name, url: String(URLSyntax.redacted(exchange.http.url.absoluteString).prefix(2048)))
        digest = FileDigest(expected: expected)
        let call = exchange.tags[DownloadCall.Key.self]
        control = call.control ?? DownloadControl()
        let activity = exchange.activity
        meter = ProgressMeter(interval: options.progressInterval, time: exchange.time) { progress in
            activity.report(.progress(TransferProgress(received: progress.received, totalToReceive: progress.total)))
            for listener in call.listeners { listener(progress) }
        }
        var exchange = exchange
        exchange.delivery = .file(URL(filePath: file.path))
        exchange.reportsProgress = false
        exchange.http.headers["Accept-Encoding"] = "identity"
        if expected == nil { exchange.http.headers["Want-Repr-Digest"] = "sha-256=10" }
        self.exchange = exchange
    }

    private static func key(_ url: URL) -> String { String(url.absoluteString.prefix { $0 != "#" }) }

    /// The whole way; what is left over is kept if it can be continued.
    func run() async throws -> HTTPResponse {
        do {
            let response = try await untilWhole()
            if response.body.file != nil { return response }
            // A 404 may be a matter of minutes, a 410 is for good (RFC 9110, sections 15.5.5 and 15.5.11).
            if response.status == 410 { file.remove() } else { tidy() }
            return response
        } catch {
            tidy()
            throw error
        }
    }

    /// What can no longer serve goes at once.
    private func tidy() {
        if file.plan.received == 0 || file.representation?.validator == nil || !isRepeatable { file.remove() }
    }

    private func untilWhole() async throws -> HTTPResponse {
        var plan = Plan(segments: isRepeatable ? max(1, min(16, options.segments)) : 1)
        var retry = RetryState(options.retries)
        if file.plan.received > 0, file.representation?.validator == nil || !isRepeatable { try startOver() }
        while true {
            try await control.waitUntilResumed()
            let before = file.plan.received
            let failure: any Error
            do {
                switch try await attempt(plan) {
                case .whole(let response):
                    do { return try await finish(response) } catch let error as DownloadError
                        where [.checksumMismatch, .digestMismatch].contains(error.code)
                    {
                        // Bytes from several tries may have been joined wrongly; those of one were not.
                        let isWorthIt = before > 0 || error.code == .digestMismatch
                        try startOver()
                        guard isWorthIt, isRepeatable, retry.restarts() else { throw error }
                        exchange.note("download", "starts over: \(error.message)")
                        plan.usesRanges = false
                        continue
                    }
                case .refused(let response):
                    guard isRepeatable,
                        let wait = retry.wait(
                            after: response, madeProgress: file.plan.received > before, now: exchange.time.date)
                    else { return response }
                    response.body.cancel()
                    // Perhaps it was too much at once.
                    plan.segments = 1
                    try await pause(for: wait, because: "status \(response.status)")
                    continue
                case .startOver(let reason, let ranges):
                    exchange.note("download", "starts over: \(reason)")
                    try startOver()
                    plan.usesRanges = plan.usesRanges && ranges
                    plan.segments = 1
                    guard isRepeatable, retry.restarts() else { throw DownloadError(.unusableAnswer, reason) }
                    continue
                }
            } catch {
                failure = error
            }
            try Task.checkCancellation()
            if failure is DownloadPause { continue }
            guard isRepeatable, failure.mayPass,
                let wait = retry.wait(madeProgress: file.plan.received > before)
            else { throw failure }
            try await pause(for: wait, because: ErrorText.brief(failure))
        }
    }

    /// Forgets what is here, and what it adds up to.
    func startOver(_ representation: Representation? = nil) throws {
        try file.startOver(representation)
        digest.restart()
    }

    private func pause(for wait: Duration, because reason: String) async throws {
        exchange.note("download", "tries again in \(wait): \(reason)")
        try await exchange.time.sleep(until: exchange.time.now.advanced(by: wait))
    }
}

extension Error {
    /// Whether the same request may bring what is missing when it is sent again.
    var mayPass: Bool {
        guard let error = self as? ErrandError else { return self is DownloadPause }
        // URLSession on Linux has no other word for a body that ends too early.
        return error.isRetryable || error.code == .transportFailed
    }
}

/// How often was tried, and how long to wait now.
struct RetryState {
    private let rules: DownloadRetries
    private(set) var tries = 0
    private var fruitless = 0
    private var restartCount = 0

    init(_ rules: DownloadRetries) { self.rules = rules }

    /// Nil if it was enough.
    mutating func wait(madeProgress: Bool, asked: Duration? = nil) -> Duration? {
        tries += 1
        fruitless = madeProgress ? 1 : fruitless + 1
        guard tries < rules.inAll, fruitless < rules.inARow else { return nil }
        let wait = asked ?? RetryDelay.backoff(try: fruitless, base: rules.backoff, limit: rules.longestWait)
        return wait <= rules.longestWait ? wait : nil
    }

    mutating func wait(after response: HTTPResponse, madeProgress: Bool, now: Date) -> Duration? {
        guard ErrandError(.unacceptableStatus, "", response: response).isRetryable else { return nil }
        let asked = RetryDelay.asked(by: response.headers["Retry-After"], now: now)
        return wait(madeProgress: madeProgress, asked: asked)
    }

    /// Whether it may begin anew: a file that changes all the time is given up.
    mutating func restarts() -> Bool {
        tries += 1
        restartCount += 1
        return restartCount <= 3 && tries < max(2, rules.inAll)
    }
}
