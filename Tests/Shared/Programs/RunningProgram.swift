#if os(Linux) || os(macOS)
import Dispatch
import ErrandEssentials
import ErrandTesting
import Foundation
import Synchronization

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Android)
import Android
#endif

/// A running ``Program``. It's killed when this object is deallocated.
///
/// Replaces Foundation's `Process`, which waits for everything that inherits its socket, such as a server that a
/// program leaves running, and whose children have signals blocked.
package final class RunningProgram: Sendable {
    package let identifier: Int32
    private let files: Folder
    private let end: ProcessEnd
    /// The end of a pipe that the program's keeper reads.
    private let lifeline: Int32?

    /// - Parameter isKept: whether a shell ends the program when this process ends for any reason.
    init(
        _ path: String, _ arguments: [String], _ environment: [String: String], _ directory: URL?, _ input: String,
        isKept: Bool
    ) throws {
        // Output goes to files, because a child of another test could inherit a pipe and keep it open.
        files = try Folder()
        var actions = SpawnActions()
        defer { actions.destroy() }
        var ends: [Int32] = [-1, -1]
        defer { if isKept { close(ends[0]) } }
        if isKept {
            guard pipe(&ends) == 0 else { throw Program.Failure(what: "no pipe") }
            for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
            actions.copy(ends[0], as: 0)
        } else {
            actions.open(0, input, O_RDONLY)
        }
        lifeline = isKept ? ends[1] : nil
        actions.open(1, files.path("output"), O_WRONLY | O_CREAT)
        actions.open(2, files.path("complaint"), O_WRONLY | O_CREAT)
        // The shell changes the directory, because posix_spawn can't on every system.
        let command = directory.map { ["/bin/sh", "-c", "cd \"$0\" && exec \"$@\"", $0.path, path] } ?? [path]
        let keeper = "exec 3<&0; \"$@\" </dev/null & child=$!; (read line; kill -9 $child) <&3 & wait $child"
        let kept = isKept ? ["/bin/sh", "-c", keeper, "keeper"] : []
        let inherited = ProcessInfo.processInfo.environment.filter { !$0.key.lowercased().hasSuffix("_proxy") }
        let variables = inherited.merging(environment) { $1 }.map { "\($0.key)=\($0.value)" }
        identifier = try actions.spawn(kept + command + arguments, variables)
        end = ProcessEnd(identifier)
        CreationObservers.notify(of: self)
    }

    deinit {
        if let lifeline { close(lifeline) } else { end.signal(SIGKILL) }
    }

    package func signal(_ number: Int32) { end.signal(number) }

    package var hasEnded: Bool { end.status != nil }

    /// Waits until the program ends. Cancelling the task kills it.
    package func ended() async throws -> Program.Output {
        try await withTaskCancellationHandler {
            try await end.gate.wait(within: .seconds(600))
        } onCancel: {
            end.signal(SIGKILL)
        }
        let status = end.status ?? 0
        let signal = status & 0x7F
        return Program.Output(
            status: signal == 0 ? status >> 8 & 0xFF : signal, wasKilled: signal != 0,
            bytes: try files.data("output"), complaint: String(decoding: try files.data("complaint"), as: UTF8.self))
    }
}

private final class ProcessEnd: Sendable {
    let gate = Gate()
    private let identifier: Int32
    private let ended = Mutex<Int32?>(nil)

    init(_ identifier: Int32) {
        self.identifier = identifier
        DispatchQueue(label: "errand.tests.process").async { [self] in
            var status: Int32 = 0
            while waitpid(identifier, &status, 0) < 0, errno == EINTR {}
            ended.withLock { $0 = status }
            gate.open()
        }
    }

    var status: Int32? { ended.withLock { $0 } }

    func signal(_ number: Int32) {
        ended.withLock { ended in
            if ended == nil { kill(identifier, number) }
        }
    }
}
#endif
