import ErrandEssentials
import ErrandSupport
import ErrandTransfers

extension PartialFile {
    /// Moves the file to its destination, in one step, and removes the sidecar.
    func finish(replacing path: String) throws(TransferError) {
        let mode = try Destination.replaceable(path)
        if let mode { try? file.setPermissions(mode) }
        try move(to: path)
        cleanUp(path)
    }

    /// The same, unless a file exists there: then this returns false.
    func finish(ifFree path: String) throws(TransferError) -> Bool {
        do {
            try SystemFile.link(self.path, to: path)
            SystemFile.remove(self.path)
        } catch {
            if error.code == EEXIST { return false }
            // Not every file system has links: there an empty file reserves the name.
            do { _ = try SystemFile(creating: path) } catch {
                if error.code == EEXIST { return false }
                throw TransferError(error)
            }
            do { try move(to: path) } catch {
                SystemFile.remove(path)
                throw error
            }
        }
        cleanUp(path)
        return true
    }

    private func move(to path: String) throws(TransferError) {
        try TransferError.converting { () throws(SystemFile.Failure) in try SystemFile.rename(self.path, to: path) }
    }

    /// After the file is at its destination: removes the sidecar, and makes the new name survive a crash.
    private func cleanUp(_ path: String) {
        SystemFile.remove(sidecarPath)
        SystemFile.flushDirectory(of: path)
    }
}
