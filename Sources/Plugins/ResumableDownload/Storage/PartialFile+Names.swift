import ErrandSupport
import ErrandTransfers
import Synchronization

extension PartialFile {
    static let prefix = "errand-"
    static let dataEnding = ".part"
    static let sidecarEnding = ".part-info"

    static func data(_ id: String, in directory: String) -> String { "\(directory)/\(prefix)\(id)\(dataEnding)" }
    static func sidecar(_ id: String, in directory: String) -> String { "\(directory)/\(prefix)\(id)\(sidecarEnding)" }

    /// Whether a name looks like a partial file or sidecar. A file from a server never gets such a name.
    static func isOurs(_ name: String) -> Bool {
        let name = Array(name.lowercased().utf8)
        return name.starts(with: prefix.utf8)
            && [dataEnding, sidecarEnding].contains { name.suffix($0.utf8.count).elementsEqual($0.utf8) }
    }

    /// Opens the partial file. If it has a second name, a download was killed after moving it to its destination, so
    /// this keeps that file and creates a new one.
    static func opened(_ path: String) throws(TransferError) -> SystemFile {
        for _ in 0..<100 {
            do { return try SystemFile(path, [.read, .write, .create, .refusesLinks]) } catch {
                guard error.code == EMLINK else { throw TransferError(error) }
                SystemFile.remove(path)
            }
        }
        throw TransferError(.notAFile, "\(path) cannot be replaced: it is not a regular file")
    }

    static func locked(_ path: String, for destination: String) throws(TransferError) -> SystemFile {
        let file = try TransferError.converting { () throws(SystemFile.Failure) in try SystemFile.locked(path) }
        guard let file else { throw TransferError(.busy, "another download writes to \(destination)") }
        return file
    }

    /// Returns a sidecar's content, or no bytes if it can't be read or is too large.
    static func content(of sidecar: borrowing SystemFile) -> [UInt8] {
        let limit = 64 << 10
        guard let data = try? sidecar.read(limit + 1, at: 0), data.count <= limit else { return [] }
        return Array(data)
    }
}

/// Identifies the running system; changes at each boot. Until then, bytes that a killed process wrote stay valid.
enum SystemSession {
    private static let known = Mutex("")

    /// Empty if unknown, in which case only flushed bytes are valid. Failures aren't cached, because a process with too
    /// many open files may succeed later.
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
