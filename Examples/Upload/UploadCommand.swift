import Errand
import ErrandExampleRequests
import ErrandResumableUpload
import ErrandSystemTransport
import Foundation

/// `errand-upload`: uploads a file. After any interruption, the same command resumes the upload.
@main
struct UploadCommand {
    static func main() async {
        // If the reader of the output goes away, keep uploading.
        signal(SIGPIPE, SIG_IGN)
        do throws(UploadArguments.Fault) {
            let arguments = try UploadArguments(Array(CommandLine.arguments.dropFirst()))
            if arguments.asksForHelp {
                print(UploadArguments.usage)
            } else if arguments.asksForVersion {
                print("errand-upload \(ErrandInfo.version)")
            } else {
                exit(await UploadJob(arguments).run().rawValue)
            }
        } catch {
            UploadReporter.write("errand-upload: \(error.message); see errand-upload --help\n", to: .standardError)
            exit(ExitStatus.failed.rawValue)
        }
    }
}

/// The program's exit status, for scripts.
enum ExitStatus: Int32 {
    case complete = 0
    /// A temporary failure: run the same command again.
    case retryable = 1
    case failed = 2
}

/// One upload, from the arguments to the exit status.
struct UploadJob {
    let arguments: UploadArguments

    init(_ arguments: UploadArguments) { self.arguments = arguments }

    func run() async -> ExitStatus {
        let file = URL(filePath: arguments.file)
        let request = SendFile(
            .file(file, contentType: arguments.contentType), to: arguments.url,
            method: HTTPMethod(rawValue: arguments.method), headers: arguments.headers,
            metadata: ["filename": file.lastPathComponent].merging(arguments.metadata) { $1 },
            options: UploadOptions(
                directory: arguments.state, uploadProtocol: arguments.uploadProtocol,
                retry: TransferRetryPolicy(maximumFailures: arguments.tries - 1),
                maximumRequestBytes: arguments.partBytes, maximumSegments: arguments.segments,
                sendsDigest: arguments.sendsDigest),
            timeout: .seconds(arguments.timeout))
        let agent = NetworkAgent(baseURL: "", transport: .system)
        let reporter = UploadReporter(arguments)
        do {
            for try await event in agent.upload(request) {
                switch event {
                case .progress(let progress): reporter.show(progress)
                case .notice(let notice): reporter.say("\(notice)")
                case .finished(let response): reporter.end(response.value)
                }
            }
            return .complete
        } catch {
            let isRetryable = (error as? any RequestFailure)?.isRetryable ?? false
            reporter.fail(
                "\(error)"
                    + (isRetryable ? "; the same command continues where the server is" : ""))
            return isRetryable ? .retryable : .failed
        }
    }
}
