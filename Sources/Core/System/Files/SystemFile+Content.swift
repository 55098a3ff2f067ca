import ErrandEssentials

// The system calls that move bytes. Each buffer belongs to the caller or to a value created here, and outlives the call
// that gets its address and length. The system doesn't keep the address.
extension SystemFile {
    package func read(_ count: Int) throws(Failure) -> Data { try Self.read(count, from: descriptor, path) }

    /// Reads up to `count` bytes. Returns empty data at the end.
    package static func read(_ count: Int, from descriptor: Int32, _ path: String) throws(Failure) -> Data {
        var data = Data(count: count)
        let received = unsafe data.withUnsafeMutableBytes { buffer in
            uninterrupted { unsafe systemRead(descriptor, buffer.baseAddress, buffer.count) }
        }
        if received < 0 { throw Failure("cannot be read", path) }
        return received == count ? data : Data(data.prefix(received))
    }

    package func readChunk(_ count: Int) throws(Failure) -> Data {
        guard var chunk = PooledChunk() else { throw Failure("cannot be read", path, code: ENOMEM) }
        let received = unsafe chunk.fill(count) { buffer in
            uninterrupted { unsafe systemRead(descriptor, buffer.baseAddress, buffer.count) }
        }
        if received < 0 { throw Failure("cannot be read", path) }
        return chunk.data()
    }

    package func seek(to offset: Int64) throws(Failure) {
        if lseek(descriptor, off_t(offset), SEEK_SET) < 0 { throw Failure("cannot be read", path) }
    }

    /// Fills a buffer from an offset and returns the number of bytes read. The number is smaller than the buffer only
    /// at the end of the file.
    package func read(_ buffer: UnsafeMutableRawBufferPointer, at offset: Int64) throws(Failure) -> Int {
        guard let base = buffer.baseAddress else { return 0 }
        var done = 0
        while done < buffer.count {
            let received = uninterrupted {
                unsafe pread(descriptor, base + done, buffer.count - done, off_t(offset) + off_t(done))
            }
            if received < 0 { throw Failure("cannot be read", path) }
            if received == 0 { break }
            done += received
        }
        return done
    }

    package func read(_ count: Int, at offset: Int64) throws(Failure) -> Data {
        if count == 0 { return Data() }
        guard let memory = unsafe malloc(count) else { throw Failure("cannot be read", path, code: ENOMEM) }
        do {
            let received = try unsafe read(UnsafeMutableRawBufferPointer(start: memory, count: count), at: offset)
            let data = unsafe Data(bytesNoCopy: memory, count: count, deallocator: .free)
            return received == count ? data : Data(data.prefix(received))
        } catch {
            unsafe free(memory)
            throw error
        }
    }

    package func write(_ bytes: some ContiguousBytes) throws(Failure) {
        if let code = Self.write(bytes, to: descriptor) {
            throw Failure("cannot be written", path, code: code)
        }
    }

    package func write(_ bytes: some ContiguousBytes, at offset: Int64) throws(Failure) {
        let code = unsafe bytes.withUnsafeBytes { bytes -> Int32? in
            guard let base = bytes.baseAddress else { return nil }
            var done = 0
            while done < bytes.count {
                let written = uninterrupted {
                    unsafe pwrite(descriptor, base + done, bytes.count - done, off_t(offset) + off_t(done))
                }
                guard written > 0 else { return written < 0 ? errno : EIO }
                done += written
            }
            return nil
        }
        if let code { throw Failure("cannot be written", path, code: code) }
    }

    /// Writes bytes to a descriptor. Returns the system's error number on failure.
    ///
    /// - Parameter waits: Whether to wait while a nonblocking descriptor is full, instead of failing with `EAGAIN`.
    package static func write(_ bytes: some ContiguousBytes, to descriptor: Int32, waits: Bool = true) -> Int32? {
        unsafe bytes.withUnsafeBytes { unsafe write($0, to: descriptor, waits: waits) }
    }

    private static func write(_ bytes: UnsafeRawBufferPointer, to descriptor: Int32, waits: Bool) -> Int32? {
        var done = 0
        while done < bytes.count {
            let written = uninterrupted {
                unsafe systemWrite(descriptor, bytes.baseAddress.map { unsafe $0 + done }, bytes.count - done)
            }
            if written > 0 {
                done += written
            } else if written < 0, errno == EAGAIN, waits {
                var ready = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
                _ = unsafe poll(&ready, 1, 1000)
            } else {
                return written < 0 ? errno : EIO
            }
        }
        return nil
    }
}

private func systemRead(_ descriptor: Int32, _ buffer: UnsafeMutableRawPointer?, _ count: Int) -> Int {
    unsafe read(descriptor, buffer, count)
}

private func systemWrite(_ descriptor: Int32, _ buffer: UnsafeRawPointer?, _ count: Int) -> Int {
    unsafe write(descriptor, buffer, count)
}
