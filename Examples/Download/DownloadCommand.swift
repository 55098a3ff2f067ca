import Dispatch
import Errand
import ErrandCurlTransport
import ErrandResumableDownload
import Synchronization

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif
#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// `errand-download`: a file from the shell, whole and right.
@main
struct DownloadCommand {
    struct Fetch: DownloadRequest {
        let path: String
        let destination: URL
        let checksum: Checksum?
        let headers: HTTPHeaders
        let timeout: Duration?
    }

    static func main() async {
        let arguments: DownloadArguments
        do { arguments = try DownloadArguments(Array(CommandLine.arguments.dropFirst())) } catch {
            complain(error.message + "; see errand-download --help")
            exit(2)
        }
        if arguments.asksForHelp {
            print(DownloadArguments.usage)
            exit(0)
        }
        // A reader who goes away is no reason to lose the file.
        signal(SIGPIPE, SIG_IGN)
        exit(await run(arguments))
    }

    static func run(_ arguments: DownloadArguments) async -> Int32 {
        var headers = HTTPHeaders()
        for (name, value) in arguments.headers { headers.add(HTTPHeaderName(name), value, sensitive: true) }
        let request = Fetch(
            path: arguments.url, destination: arguments.destination, checksum: arguments.sha256.map { .sha256($0) },
            headers: headers, timeout: .seconds(arguments.timeout))
        let options = DownloadOptions(
            segments: arguments.segments, retries: DownloadRetries(maximumConsecutiveFailures: arguments.tries))
        let agent = NetworkAgent(baseURL: "", transport: .curl, filters: [.downloads(options)])
        let line = Mutex(ProgressLine(isTerminal: ProgressLine.standardErrorIsTerminal))
        let download = agent.download(request)
        let interrupts = [SIGINT, SIGTERM].map { number in
            signal(number, SIG_IGN)
            let source = DispatchSource.makeSignalSource(signal: number, queue: .global())
            source.setEventHandler { download.cancel() }
            source.resume()
            return source
        }
        defer { interrupts.forEach { $0.cancel() } }
        do {
            for try await event in download {
                switch event {
                case .progress(let progress):
                    if arguments.isQuiet { continue }
                    if let text = line.withLock({ $0.text(for: progress, columns: columns) }) { write(text) }
                case .notice: continue
                case .finished(let file):
                    write(line.withLock { $0.end() })
                    print(file.path)
                }
            }
            return 0
        } catch {
            write(line.withLock { $0.end() })
            let status = status(of: error)
            complain(status == 130 ? "interrupted; run it again to go on" : reason(error))
            return status
        }
    }

    /// 1 if another try may mend it, 2 if not, 130 after an interrupt.
    static func status(of error: any Error) -> Int32 {
        if let error = error as? DownloadError { return error.isRetryable ? 1 : 2 }
        guard let error = error as? ErrandError else { return error is CancellationError ? 130 : 2 }
        if error.isCancelled { return 130 }
        let mayPass: Set<ErrandError.Code> = [.transportFailed, .deadlineExceeded]
        return error.isRetryable || mayPass.contains(error.code) ? 1 : 2
    }

    /// One line.
    static func reason(_ error: any Error) -> String {
        let text = (error as? ErrandError)?.message ?? (error as? DownloadError)?.message ?? "\(error)"
        return String(text.map { $0.isNewline ? " " : $0 })
    }

    private static func complain(_ text: String) { write("errand-download: \(text)\n") }

    private static func write(_ text: String) {
        var rest = Array(text.utf8)[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { Self.write(2, $0.baseAddress, $0.count) }
            if count < 0 && errno == EINTR { continue }
            if count <= 0 { return }
            rest = rest.dropFirst(count)
        }
    }

    private static func write(_ file: Int32, _ bytes: UnsafeRawPointer?, _ count: Int) -> Int {
        #if canImport(Glibc)
        Glibc.write(file, bytes, count)
        #elseif canImport(Musl)
        Musl.write(file, bytes, count)
        #else
        Darwin.write(file, bytes, count)
        #endif
    }

    private static var columns: Int {
        var size = winsize()
        return ioctl(2, UInt(TIOCGWINSZ), &size) == 0 && size.ws_col > 0 ? Int(size.ws_col) : 80
    }
}
