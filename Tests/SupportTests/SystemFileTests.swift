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
        let temporary = SystemFile.temporary(beside: b)
        #expect(temporary.hasPrefix(folder.url.path + "/.errand-") && temporary != SystemFile.temporary(beside: b))
        SystemFile.flushDirectory(of: b)
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
