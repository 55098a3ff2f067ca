import ErrandSupport
import Foundation
import Testing

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Android)
import Android
#else
import Darwin
#endif

@Suite("Files of the system", .leakChecked) struct SystemFileTests {
    private let folder: Folder

    init() throws { folder = try Folder() }

    @Test("bytes are written and read at any offset, and the file is truncated and extended")
    func offsets() throws {
        let file = try SystemFile(folder.path("a"), [.read, .write, .create], permissions: 0o600)
        try file.write(Data("world".utf8), at: 6)
        try file.write([UInt8]("hello ".utf8), at: 0)
        #expect(try file.read(100, at: 0) == Data("hello world".utf8))
        #expect(try file.read(5, at: 6) == Data("world".utf8))
        #expect(try file.read(5, at: 100).isEmpty && file.read(0, at: 0).isEmpty)
        try file.truncate(to: 5)
        #expect(file.status?.size == 5 && file.status?.permissions == 0o600)
        try file.truncate(to: 7)
        #expect(try file.read(100, at: 3) == Data("lo\0\0".utf8))
        try file.flush()
        try file.flushData()
        file.beginFlush()
        try file.setPermissions(0o640)
        file.setTimes(1_500_000_000_123_456_789)
        let status = try FileStatus(at: folder.path("a"))
        #expect(status.permissions == 0o640 && status.modified / 1_000_000_000 == 1_500_000_000)
        #expect(status.kind == .regular && status.linkCount == 1)
        file.setTimes(-1_500_000_000)
        #expect(try FileStatus(at: folder.path("a")).modified == -1_500_000_000)
    }

    @Test("bytes are appended to the end, and read piece by piece")
    func appending() throws {
        let path = folder.path("a")
        for text in ["one ", "two ", "three"] {
            try SystemFile(path, [.write, .append, .create]).write(Data(text.utf8))
        }
        let file = try SystemFile(reading: path)
        #expect(try file.read(8) == Data("one two ".utf8))
        #expect(try file.read(100) == Data("three".utf8))
        #expect(try file.read(100).isEmpty)
        #expect(try SystemFile.size(of: path) == 13)
    }

    @Test("a failure contains the path and the system's error number")
    func failures() throws {
        let path = folder.path("a")
        let missing = #expect(throws: SystemFile.Failure.self) { _ = try SystemFile(reading: path) }
        #expect(missing?.code == ENOENT && missing?.path == path && missing?.description.contains(path) == true)
        _ = try SystemFile(creating: path)
        let existing = #expect(throws: SystemFile.Failure.self) { _ = try SystemFile(creating: path) }
        #expect(existing?.code == EEXIST)
        #expect(symlink(path, folder.path("link")) == 0)
        let link = #expect(throws: SystemFile.Failure.self) {
            _ = try SystemFile(folder.path("link"), [.read, .refusesLinks])
        }
        #expect(link?.code == ELOOP)
        #expect(try FileStatus(at: folder.path("link"), followingLinks: false).kind == .link)
        #expect(try FileStatus(at: folder.path("link")).kind == .regular)
        let readOnly = #expect(throws: SystemFile.Failure.self) {
            try SystemFile(reading: path).write(Data([1]), at: 0)
        }
        #expect(readOnly?.code == EBADF)
        let directory = #expect(throws: SystemFile.Failure.self) { _ = try SystemFile.size(of: folder.url.path) }
        #expect(directory?.code == EINVAL)
        #expect(throws: SystemFile.Failure.self) { try SystemFile.list(folder.path("none")) { _ in true } }
    }

    @Test(
        "anything but a regular file is refused at once: pipes, devices, directories, and second names for writing"
    )
    func kinds() throws {
        let places = ["pipe", "folder", "second", "regular", "link"].map(folder.path)
        #expect(mkfifo(places[0], 0o600) == 0 && mkdir(places[1], 0o700) == 0)
        try SystemFile(creating: places[3]).write(Data("x".utf8))
        #expect(link(places[3], places[2]) == 0 && symlink("pipe", places[4]) == 0)
        func code(_ place: Int, _ access: SystemFile.Access) -> Int32? {
            do {
                _ = try SystemFile(places[place], access)
                return nil
            } catch { return error.code }
        }
        for access: SystemFile.Access in [.read, [.read, .write], [.read, .write, .create]] {
            #expect(code(0, [access, .refusesLinks]) == ENXIO)
            #expect(code(1, [access, .refusesLinks]) == EISDIR)
            #expect(code(2, [access, .refusesLinks]) == (access == .read ? nil : EMLINK))
            #expect(code(4, [access, .refusesLinks]) == ELOOP)
        }
        #expect(code(0, [.write, .append, .refusesLinks]) == ENXIO)
        for place in [0, 4] { #expect(code(place, [.read, .onlyRegular]) == ENXIO) }
        #expect(code(1, [.read, .onlyRegular]) == EISDIR && code(2, [.read, .onlyRegular]) == nil)
        #expect(code(1, .read) == nil)
    }

    @Test("names are moved, linked, listed and removed")
    func names() throws {
        let (a, b) = (folder.path("a"), folder.path("b"))
        let file = try SystemFile(creating: a)
        try SystemFile.link(a, to: b)
        #expect(file.isAt(a) && file.isAt(b) && file.status?.linkCount == 2)
        let taken = #expect(throws: SystemFile.Failure.self) { try SystemFile.link(a, to: b) }
        #expect(taken?.code == EEXIST)
        #expect(SystemFile.remove(b) && !SystemFile.remove(b))
        try SystemFile.rename(a, to: b)
        #expect(!file.isAt(a) && file.isAt(b))
        try SystemFile.makeDirectory(folder.path("c"), permissions: 0o700)
        #expect(throws: SystemFile.Failure.self) { try SystemFile.makeDirectory(folder.path("c"), permissions: 0o700) }
        var names: Set<String> = []
        try SystemFile.list(folder.url.path) {
            names.insert($0)
            return true
        }
        #expect(names == ["b", "c"])
        var count = 0
        try SystemFile.list(folder.url.path) { _ in
            count += 1
            return false
        }
        #expect(count == 1)
        SystemFile.flushDirectory(of: b)
    }

    private var present: Set<String> {
        get throws {
            var names: Set<String> = []
            try SystemFile.list(folder.url.path) {
                names.insert($0)
                return true
            }
            return names
        }
    }

    /// Creates a file that was last changed two hours ago.
    private func makeOld(_ name: String) throws {
        let file = try SystemFile(creating: folder.path(name))
        file.setTimes(Int64(Date().timeIntervalSince1970 - 7200) * 1_000_000_000)
    }

    @Test("a temporary file is next to its destination, and replaces it")
    func temporaryFile() throws {
        let path = folder.path("a")
        try SystemFile(creating: path).write(Data("old".utf8))
        do {
            let file = try SystemFile.temporary(beside: path, permissions: 0o640)
            let other = try SystemFile.temporary(beside: path, [.read, .write], permissions: 0o600)
            #expect(file.path.hasPrefix(folder.url.path + "/.errand-") && file.path != other.path)
            #expect(try FileStatus(at: file.path).permissions == 0o640)
            try file.write(Data("new".utf8))
            SystemFile.remove(other.path)
            try file.move(to: path)
            let reader = try SystemFile(reading: path)
            #expect(try reader.read(10) == Data("new".utf8) && reader.tryLock(), "the lock is released")
        }
        #expect(try present == ["a"])
        let missing = #expect(throws: SystemFile.Failure.self) {
            _ = try SystemFile.temporary(beside: folder.path("none/a"), permissions: 0o600)
        }
        #expect(missing?.code == ENOENT)
    }

    @Test("only old temporary files that no process has open are removed, and no other files")
    func abandoned() throws {
        let kept = [
            "a", "errand-1-2.partial", ".errand-1-2.partial.", ".errand-1-2.part", ".errand-1.partial",
            ".errand-1-2-3.partial", ".errand-01-2.partial", ".errand-1-+2.partial", ".errand--1-2.partial",
            ".errand-1-2x.partial", ".errand-1-18446744073709551616.partial", ".errand-2147483648-1.partial",
            ".Errand-1-2.partial", ".errand-1-.partial",
        ]
        let removed = [
            ".errand-1-2.partial", ".errand-1-0.partial", ".errand-2147483647-18446744073709551615.partial",
            ".errand-\(getpid())-7.partial",
        ]
        for name in kept + removed { try makeOld(name) }
        _ = try SystemFile(creating: folder.path(".errand-1-3.partial"))
        let soon = try SystemFile(creating: folder.path(".errand-1-4.partial"))
        soon.setTimes(Int64(Date().timeIntervalSince1970 + 7200) * 1_000_000_000)
        try makeOld(".errand-1-5.partial")
        let open = try SystemFile(folder.path(".errand-1-5.partial"), [.read, .write])
        let isLocked = open.tryLock()
        #expect(isLocked)
        // Links and directories with such a name aren't Errand's.
        #expect(symlink(folder.path("a"), folder.path(".errand-1-6.partial")) == 0)
        try makeOld("second")
        try SystemFile.link(folder.path("second"), to: folder.path(".errand-1-7.partial"))
        try SystemFile.makeDirectory(folder.path(".errand-1-8.partial"), permissions: 0o700)
        SystemFile.removeAbandonedFiles(beside: folder.path("destination"))
        let others = (3...8).map { ".errand-1-\($0).partial" } + ["second"]
        #expect(try present == Set(kept + others))
        SystemFile.removeAbandonedFiles(beside: folder.path("none/destination"))
    }

    @Test("a temporary file that is being written isn't removed, however old it is")
    func inUse() throws {
        let path = folder.path("a")
        let file = try SystemFile.temporary(beside: path, permissions: 0o600)
        file.setTimes(1_000_000_000)
        SystemFile.removeAbandonedFiles(beside: path)
        #expect(try present.count == 1)
        SystemFile.remove(file.path)
    }

    @Test("a file that is written again removes the temporary files of killed processes")
    func written() throws {
        try makeOld(".errand-1-2.partial")
        try SystemFile.replace(folder.path("a"), with: Data("new".utf8))
        #expect(try present == ["a"])
    }

    @Test("a lock excludes other open files until it is released or its file is closed")
    func locks() throws {
        let path = folder.path("a")
        let first = try SystemFile(path, [.read, .write, .create])
        do {
            let second = try SystemFile(path, [.read, .write])
            #expect(second.tryLock() && !first.tryLock() && !first.tryLock(shared: true))
            second.unlock()
            #expect(first.tryLock(shared: true) && second.tryLock(shared: true) && !second.tryLock())
        }
        try first.lock()
        first.unlock()
    }

    @Test("a file system that doesn't support locks is told from a file that can't be locked")
    func withoutLocks() {
        #expect([ENOLCK, ENOSYS, ENOTSUP, EOPNOTSUPP, EINVAL].allSatisfy(SystemFile.meansNoLocks))
        #expect(![EWOULDBLOCK, EBADF, EIO, ENOENT, EINTR].contains(where: SystemFile.meansNoLocks))
    }

    @Test("a full non-blocking pipe is waited for, or is a failure")
    func fullPipe() async throws {
        var ends: [Int32] = [0, 0]
        #expect(pipe(&ends) == 0)
        let (reader, writer) = (ends[0], ends[1])
        #expect(fcntl(writer, F_SETFL, O_NONBLOCK) == 0)
        let data = [UInt8](repeating: 7, count: 1 << 20)
        #expect(data.withUnsafeBytes { SystemFile.write($0, to: writer, waits: false) } == EAGAIN)
        // The pipe is full now; the rest arrives while another thread reads. A thread rather than a task, because
        // this test blocks one of the few threads that tasks run on.
        let received = Log<Int>()
        Thread.detachNewThread {
            var count = 0
            while let piece = try? SystemFile.read(1 << 16, from: reader, "pipe"), !piece.isEmpty {
                count += piece.count
            }
            received.add(count)
        }
        #expect(data.withUnsafeBytes { SystemFile.write($0, to: writer) } == nil)
        close(writer)
        try await eventually { !received.all.isEmpty }
        #expect(received.all[0] > data.count)
        close(reader)
    }

    @Test("a file is read piece by piece, and a missing file fails with the first piece")
    func reader() throws {
        let path = folder.path("a")
        try SystemFile(creating: path).write(Data("abcde".utf8))
        let reader = FileReader(path, pieces: 2)
        #expect(try reader.next() == Data("ab".utf8) && reader.next() == Data("cd".utf8))
        #expect(try reader.next() == Data("e".utf8) && reader.next() == nil)
        #expect(throws: SystemFile.Failure.self) { try FileReader(folder.path("none")).next() }
    }
}
