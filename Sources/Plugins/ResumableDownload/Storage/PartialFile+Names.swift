import ErrandSupport
import ErrandTransfers
import Synchronization

extension PartialFile {
    static let prefix = "errand-"
    static let dataEnding = ".part"
    static let sidecarEnding = ".part-info"

    static func data(_ id: String, in directory: String) -> String { "\(directory)/\(prefix)\(id)\(dataEnding)" }
    static func sidecar(_ id: String, in directory: String) -> String { "\(directory)/\(prefix)\(id)\(sidecarEnding)" }

    /// Whether a name could be mistaken for one of these, so that no file from a server gets it.
    static func isOurs(_ name: String) -> Bool {
        let name = Array(name.lowercased().utf8)
        return name.starts(with: prefix.utf8)
            && [dataEnding, sidecarEnding].contains { name.suffix($0.utf8.count).elementsEqual($0.utf8) }
    }

    /// Opens the partial file. A file with a second name was moved to its destination already, by a download that was killed
    /// before it could clean up: it stays, and a new one is created.
    static func opened(_ path: String) throws(TransferError) -> SystemFile {
        for _ in 0..<100 {
            do { return try SystemFile(path, [.read, .write, .create, .refusesLinks]) } catch {
                guard error.code == EMLINK else { throw TransferError(error) }
                SystemFile.remove(path)
            }
        }
        throw TransferError(.notAFile, "\(path) cannot be replaced: it is not a regular file")
    }

    /// Opens and locks the sidecar.
    static func locked(_ path: String, for destination: String) throws(TransferError) -> SystemFile {
        let file = try TransferError.converting { () throws(SystemFile.Failure) in try SystemFile.locked(path) }
        guard let file else { throw TransferError(.busy, "another download writes to \(destination)") }
        return file
    }

    /// The content of a sidecar; empty if it is larger than a sidecar can be, or cannot be read.
    static func content(of sidecar: borrowing SystemFile) -> [UInt8] {
        let limit = 64 << 10
        guard let data = try? sidecar.read(limit + 1, at: 0), data.count <= limit else { return [] }
        return Array(data)
    }
}

/// The identifier of the running system, which changes when it starts: bytes that a killed process wrote are valid for
/// the next process as long as the system runs.
enum SystemSession {
    private static let known = Mutex("")

    /// Empty where it is unknown; then only flushed bytes are valid. Only a success is kept: a process with too many open files
    /// may read it later.
    static var identifier: String {
        known.withLock { known in
            if known.isEmpty { known = read() }
            return known
        }
    }

    private static func read() -> String {
        #if os(Linux) || os(Android)
        guard let file = try? SystemFile(reading: "/proc/sys/kernel/random/boot_id"), let data = try? file.read(64)
        else {
            return ""
        }
        return String(decoding: data, as: UTF8.self).filter { $0.isHexDigit || $0 == "-" }
        #else
        SystemSession.darwin
        #endif
    }
}
