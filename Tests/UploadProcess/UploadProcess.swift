import Errand
import ErrandMultipart
import ErrandSystemTransport
import Foundation
import Synchronization

/// `errand-upload-process URL file|form|stream PATH|BYTES` runs one upload in a separate process, to measure its
/// memory. Prints the sent bytes, their total, how often the fraction decreased, and the largest memory growth in KiB
/// (0 if unknown).
@main
struct UploadProcess {
    static func main() async { exit(await run(CommandLine.arguments)) }

    @concurrent static func run(_ arguments: [String]) async -> Int32 {
        guard arguments.count == 4, let body = body(arguments[2], arguments[3]) else { return 2 }
        let agent = NetworkAgent(baseURL: arguments[1], transport: .system)
        let last = Mutex(TransferProgress())
        let falls = Atomic(0)
        do {
            // A warm-up request loads everything that an upload shouldn't be charged for.
            try await agent.send(Call<Void>(.post, "upload", body: .text("first")))
            let before = memory("VmRSS:")
            let options = CallOptions(progress: { now in
                let before = last.withLock { last in
                    defer { last = now }
                    return last.fraction ?? 0
                }
                if let fraction = now.fraction, fraction < before { falls.add(1, ordering: .relaxed) }
            })
            try await agent.send(Call<Void>(.post, "upload", body: body), options: options)
            let progress = last.withLock { $0 }
            let grown = memory("VmHWM:") - before
            print(progress.sent, progress.totalToSend ?? -1, falls.load(ordering: .relaxed), grown)
            return 0
        } catch {
            FileHandle.standardError.write(Data("\(error)\n".utf8))
            return 1
        }
    }

    private static func body(_ kind: String, _ value: String) -> RequestBody? {
        switch kind {
        case "file": return .file(URL(filePath: value))
        case "form": return .multipart(.field("title", "Sea"), .file(URL(filePath: value), name: "file"))
        case "stream":
            guard let count = Int(value) else { return nil }
            return .multipart(.stream(name: "file") { zeros(count) })
        default: return nil
        }
    }

    /// Returns a body of this many bytes, with unknown length.
    private static func zeros(_ count: Int) -> HTTPBody {
        let rest = Mutex(count)
        return HTTPBody(next: {
            let size = rest.withLock { rest in
                let size = min(rest, 256 << 10)
                rest -= size
                return size
            }
            return size > 0 ? Data(count: size) : nil
        })
    }

    /// In KiB, for this process; 0 if the system doesn't report it.
    private static func memory(_ name: String) -> Int {
        let status = (try? String(contentsOfFile: "/proc/self/status", encoding: .utf8)) ?? ""
        let line = status.split(separator: "\n").first { $0.hasPrefix(name) }
        return line.flatMap { Int($0.filter(\.isNumber)) } ?? 0
    }
}
