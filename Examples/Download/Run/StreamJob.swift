import Errand
import ErrandEssentials
import ErrandResumableDownload

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Android)
import Android
#else
import Darwin
#endif

/// Downloads one URL to standard output. Written bytes can't be taken back, so retries end with the first byte.
struct StreamJob: Sendable {
    struct Fetch: Request {
        typealias Output = HTTPBody
        let path: String
        let headers: HTTPHeaders
        let authorization: Authorization?
        let timeout: Duration?
        let deadline: Duration?
        let filters: [any Filter]
    }

    /// Writing to standard output failed.
    struct OutputFailure: Error { let code: Int32 }

    let target: Plan.Target
    let request: Fetch
    let arguments: DownloadArguments
    let agent: NetworkAgent
    let reporter: Reporter

    func run() async -> ExitStatus {
        reporter.report(.started, of: target.item)
        do {
            let start = ContinuousClock.now
            let bytes = try await copy(try await body(), start)
            let elapsed = start.duration(to: .now) / .seconds(1)
            reporter.report(.finished(path: "-", bytes: bytes, seconds: elapsed), of: target.item)
            return .complete
        } catch let error as OutputFailure {
            // The reader has closed the pipe: exit quietly, as other Unix filters do.
            if error.code == EPIPE {
                reporter.end(complete: 0, failed: 1, status: .failed)
                signal(SIGPIPE, SIG_DFL)
                raise(SIGPIPE)
            }
            let reason = String(cString: strerror(error.code))
            let message = "\(target.item.url) was not downloaded: standard output cannot be written: \(reason)."
            reporter.report(.failed(message: message, .failed), of: target.item)
            return .failed
        } catch {
            let failure = Failure(
                error, url: target.item.url, host: target.url.host, path: nil, kept: 0, arguments: arguments)
            if failure.status == .interrupted { return .interrupted }
            reporter.report(.failed(message: failure.message, failure.status), of: target.item)
            return failure.status
        }
    }

    /// Returns the response body, retrying as often as allowed.
    private func body() async throws -> HTTPBody {
        var wait = 0.5
        for attempt in 1... {
            do { return try await agent.send(request).value } catch {
                guard attempt < arguments.tries, Failure.status(of: error) == .retryable,
                    (error as? ErrandError)?.code != .deadlineExceeded
                else { throw error }
                reporter.report(.retry(after: wait, because: Failure.sentence(error)), of: target.item)
                try await Task.sleep(for: .seconds(wait))
                wait = min(wait * 2, 60)
            }
        }
        throw CancellationError()
    }

    @concurrent private func copy(_ body: HTTPBody, _ start: ContinuousClock.Instant) async throws -> Int64 {
        var progress = TransferStatus(total: body.length, state: .receiving)
        var shown = start
        for try await chunk in body {
            if let code = Descriptor.output.write(chunk) { throw OutputFailure(code: code) }
            progress.transferred += Int64(chunk.count)
            let now = ContinuousClock.now
            if let limit = arguments.maximumTime, start.duration(to: now) > .seconds(limit) {
                throw ErrandError(.deadlineExceeded, "")
            }
            guard shown.duration(to: now) >= .milliseconds(100) || progress.transferred == progress.total else {
                continue
            }
            shown = now
            progress.rate = Double(progress.transferred) / max(0.001, start.duration(to: now) / .seconds(1))
            if let total = progress.total, progress.rate >= 1 {
                progress.timeLeft = .seconds(min(1e9, Double(total - progress.transferred) / progress.rate))
            }
            reporter.report(.progress(progress), of: target.item)
        }
        return progress.transferred
    }
}
