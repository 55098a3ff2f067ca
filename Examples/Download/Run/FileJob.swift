import Errand
import ErrandEssentials
import ErrandResumableDownload
import Synchronization

/// Downloads one URL to one file.
struct FileJob: Sendable {
    struct Fetch: DownloadRequest {
        let path: String
        let destination: URL
        let checksum: Checksum?
        let headers: HTTPHeaders
        let authorization: Authorization?
        let timeout: Duration?
        let deadline: Duration?
        let filters: [any Filter]
    }

    let target: Plan.Target
    let destination: URL
    let request: Fetch
    let arguments: DownloadArguments
    let agent: NetworkAgent
    let reporter: Reporter

    func run() async -> ExitStatus {
        if let path = existing {
            reporter.report(.skipped(path: path), of: target.item)
            return .complete
        }
        let start = ContinuousClock.now
        reporter.report(.started, of: target.item)
        do {
            for try await event in agent.download(request) {
                switch event {
                case .progress(let status): reporter.report(.progress(status), of: target.item)
                case .notice(let notice): reporter.report(ReportEvent(notice), of: target.item)
                case .finished(let response):
                    let path = response.value.path
                    if arguments.keepsRemoteTime, let problem = RemoteTime.keep(response.http, path) {
                        reporter.report(.note(problem), of: target.item)
                    }
                    let elapsed = start.duration(to: .now) / .seconds(1)
                    reporter.report(
                        .finished(path: path, bytes: InputFile.size(path), seconds: elapsed), of: target.item)
                }
            }
            return .complete
        } catch {
            let status = Failure.status(of: error)
            if status == .interrupted { return status }
            let failure = Failure(
                error, url: target.item.url, host: target.url.host, path: destination.path, kept: kept,
                arguments: arguments)
            reporter.report(.failed(message: failure.message, failure.status), of: target.item)
            return failure.status
        }
    }

    /// The number of bytes that the same command would resume from.
    var kept: Int64 {
        let directory = InputFile.isDirectory(destination.path) ? destination : destination.deletingLastPathComponent()
        let url = TargetURL.redacted(URL(string: request.path)?.absoluteString ?? request.path)
        let partials = (try? ResumableDownloadFilter.partialDownloads(in: directory)) ?? []
        let mine = partials.filter { $0.canContinue && $0.url == url }
        return mine.max { $0.changed < $1.changed }?.received ?? 0
    }

    /// The existing file that `--no-clobber` keeps.
    private var existing: String? {
        guard arguments.skipsExisting else { return nil }
        let isDirectory = InputFile.isDirectory(destination.path)
        let path = isDirectory ? destination.appending(path: target.url.name).path : destination.path
        return InputFile.exists(path) ? path : nil
    }
}
