import Errand
import ErrandResumableDownload
import ErrandSystemTransport
import Foundation
import Synchronization

/// `errand-download-process URL DIRECTORY COUNT [full]` runs COUNT downloads at once, in a process whose open-file
/// limit a test has lowered. With `full`, it uses up all file descriptors until a download reports that it waits.
@main
struct DownloadProcess {
    struct Get: DownloadRequest {
        let path: String
        let destination: URL
    }

    /// Holds every file descriptor that the process may open.
    final class Hoard: Sendable {
        private let files = Mutex<[Int32]>([])
        let queued = Atomic(0)

        func fill() {
            files.withLock { files in
                while true {
                    let file = open("/dev/null", O_RDONLY | O_CLOEXEC)
                    if file < 0 { return }
                    files.append(file)
                }
            }
        }

        func release() {
            files.withLock { files in
                files.forEach { close($0) }
                files = []
            }
        }
    }

    static func main() async { exit(await run(CommandLine.arguments)) }

    @concurrent static func run(_ arguments: [String]) async -> Int32 {
        guard arguments.count >= 4, let count = Int(arguments[3]) else { return 2 }
        let agent = NetworkAgent(baseURL: arguments[1], transport: .system)
        let folder = URL(filePath: arguments[2], directoryHint: .isDirectory)
        let hoard = Hoard()
        if arguments.count > 4 { hoard.fill() }
        let failures = await withTaskGroup(of: String?.self) { group in
            for index in 0..<count {
                group.addTask {
                    let request = Get(path: "\(index)", destination: folder.appending(path: "\(index)"))
                    do {
                        for try await event in agent.download(request) {
                            guard case .notice(.queued) = event else { continue }
                            hoard.queued.add(1, ordering: .relaxed)
                            hoard.release()
                        }
                        return nil
                    } catch { return "\(error)" }
                }
            }
            var failures: [String] = []
            for await failure in group { if let failure { failures.append(failure) } }
            return failures
        }
        print("\(count - failures.count) files, \(hoard.queued.load(ordering: .relaxed)) waited")
        for failure in failures.prefix(3) { print(failure) }
        return failures.isEmpty ? 0 : 1
    }
}
