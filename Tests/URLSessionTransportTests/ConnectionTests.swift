import Errand
import ErrandTesting
import Foundation
import Synchronization
import Testing

@testable import ErrandURLSessionTransport

@Suite("Connections over a system connection", .endsInTime, .leakChecked)
struct ConnectionTests {
    private let driver = ScriptedDriver()
    private let connection: SystemConnection
    private static let reset = NetworkFailure(.posix(.ECONNRESET), "Connection reset by peer")

    init() { connection = watchForLeaks(SystemConnection(driver)) }

    private func opening(_ options: TransportOptions = TransportOptions()) async throws -> Task<Void, any Error> {
        let task = Task { [connection] in try await connection.open(options) }
        try await eventually { driver.isStarted }
        return task
    }

    private func open() async throws {
        let task = try await opening()
        driver.report(.ready)
        try await task.value
    }

    private func reading() async throws -> Task<Data?, any Error> {
        let task = Task { [connection] in try await connection.receive() }
        try await eventually { connection.state.withLock { $0.reader != nil } && !driver.receives.isEmpty }
        return task
    }

    // MARK: The beginning

    @Test("a failed attempt throws the mapped error, and ends the system's connection")
    func refused() async throws {
        let task = try await opening()
        driver.report(.failed(NetworkFailure(.posix(.ECONNREFUSED), "Connection refused")))
        #expect(await code { try await task.value } == .cannotConnect)
        #expect(driver.cancels == 1)
        driver.report(.ready)
        #expect(await code { try await connection.receive() } == .cannotConnect)
        #expect(await code { try await connection.open(TransportOptions()) } == .cannotConnect)
    }

    @Test("an attempt ends at the request's timeout, on the request's clock")
    func timeout() async throws {
        let time = ManualTimeSource()
        let task = try await opening(TransportOptions(timeout: .seconds(7), time: time))
        let start = time.now
        try await eventually { time.nextWake == start + .seconds(7) }
        time.advance(by: .seconds(7))
        #expect(await code { try await task.value } == .timedOut)
        #expect(driver.cancels == 1)
    }

    @Test("an established connection has no deadline, and its clock's sleep ends")
    func noDeadline() async throws {
        let time = ManualTimeSource()
        let task = try await opening(TransportOptions(timeout: .seconds(7), time: time))
        driver.report(.ready)
        try await task.value
        try await eventually { time.nextWake == nil }
        #expect(driver.cancels == 0)
    }

    @Test("a deadline that passes while the connection is completed doesn't end it")
    func lateDeadline() {
        var state = ConnectionState()
        #expect(state.becomeReady().isEmpty && state.expire(after: .seconds(7)).isEmpty)
        #expect(state.failure == nil)
    }

    @Test("cancelling the task ends the attempt, before and after it starts", arguments: [false, true])
    func cancelledAttempt(isStarted: Bool) async throws {
        let task: Task<Void, any Error>
        if isStarted {
            task = try await opening()
        } else {
            let gate = Gate()
            task = Task { [connection] in
                try? await gate.wait()
                try await connection.open(TransportOptions())
            }
            try await gate.reached()
        }
        task.cancel()
        #expect(await code { try await task.value } == .cancelled)
        #expect(driver.isStarted == isStarted)
        #expect(driver.cancels == 1)
        driver.report(.ready)
        #expect(await code { try await connection.flush() } == .cancelled)
    }

    // MARK: Receiving

    @Test("bytes are received only for a waiting reader, once at a time; a cancelled reader leaves them to the next")
    func onDemand() async throws {
        try await open()
        #expect(driver.receives == [])
        let first = try await reading()
        first.cancel()
        await #expect(throws: CancellationError.self) { try await first.value }
        let second = try await reading()
        #expect(driver.receives == [SystemConnection.receiveBytes])
        driver.complete("bytes")
        #expect(try await second.value == Data("bytes".utf8))
        #expect(driver.receives == [])
    }

    @Test("bytes that arrive without a reader wait for the next reader, and a cancelled task doesn't get them")
    func unread() async throws {
        try await open()
        let first = try await reading()
        first.cancel()
        _ = await first.result
        driver.complete("bytes")
        #expect(try await connection.receive() == Data("bytes".utf8))
        let gate = Gate()
        let cancelled = Task { [connection] in
            try? await gate.wait()
            return try await connection.receive()
        }
        try await gate.reached()
        cancelled.cancel()
        await #expect(throws: CancellationError.self) { try await cancelled.value }
    }

    @Test("an empty completion doesn't end the wait")
    func nothing() async throws {
        try await open()
        let reader = try await reading()
        driver.complete(nil)
        try await eventually { !driver.receives.isEmpty }
        driver.complete("bytes")
        #expect(try await reader.value == Data("bytes".utf8))
    }

    @Test("the end or failure is delivered after the last bytes, and again to later readers")
    func ends() async throws {
        try await open()
        let reader = try await reading()
        driver.complete("bye", isAtEnd: true)
        #expect(try await reader.value == Data("bye".utf8))
        #expect(try await connection.receive() == nil)
        #expect(try await connection.receive() == nil)

        let other = ScriptedDriver()
        let lost = watchForLeaks(SystemConnection(other))
        let task = Task { try await lost.open(TransportOptions()) }
        try await eventually { other.isStarted }
        other.report(.ready)
        try await task.value
        let last = Task { try await lost.receive() }
        try await eventually { !other.receives.isEmpty }
        other.complete("bye", Self.reset)
        #expect(try await last.value == Data("bye".utf8))
        for _ in 0..<2 { #expect(await code { try await lost.receive() } == .connectionLost) }
    }

    @Test("a second reader is refused, and the first one continues")
    func secondReader() async throws {
        try await open()
        let reader = try await reading()
        #expect(await code { try await connection.receive() } == .transportFailed)
        driver.complete("bytes")
        #expect(try await reader.value == Data("bytes".utf8))
    }

    @Test("a lost connection ends readers and flushes with connectionLost, for any cause")
    func lost() async throws {
        try await open()
        connection.enqueue(Data("x".utf8))
        let reader = try await reading()
        let flush = Task { [connection] in try await connection.flush() }
        try await eventually { !driver.sends.isEmpty }
        driver.report(.failed(NetworkFailure(.security(-9806), "closed")))
        #expect(await code { try await reader.value } == .connectionLost)
        #expect(await code { try await flush.value } == .connectionLost)
        #expect(driver.cancels == 1)
        driver.complete(nil, NetworkFailure(.posix(.ECANCELED), "cancelled"))
        driver.completeSend(NetworkFailure(.posix(.ECANCELED), "cancelled"))
        #expect(await code { try await connection.receive() } == .connectionLost)
    }

    // MARK: Sending

    @Test("the system gets one piece at a time: small pieces are combined, large ones split, all in order")
    func pieces() async throws {
        try await open()
        connection.enqueue(Data("a".utf8))
        #expect(driver.sends == [])
        connection.push()
        for letter in ["b", "c", ""] { connection.enqueue(Data(letter.utf8)) }
        connection.push()
        #expect(driver.sends == [Data("a".utf8)])
        #expect(connection.pendingBytes == 3)
        driver.completeSend()
        #expect(driver.sends == [Data("bc".utf8)])
        let large = Data((0..<(2 * ConnectionState.sendBytes + 5)).map { UInt8(truncatingIfNeeded: $0) })
        connection.enqueue(large)
        let flush = Task { [connection] in try await connection.flush() }
        var sent = Data()
        while connection.pendingBytes > 0 {
            let piece = try #require(driver.sends.first)
            #expect(piece.count <= ConnectionState.sendBytes && driver.sends.count == 1)
            sent.append(piece)
            driver.completeSend()
        }
        try await flush.value
        #expect(sent == Data("bc".utf8) + large)
        try await connection.flush()
    }

    @Test("a flush waits for the bytes before it, and cancelling it doesn't affect others")
    func flushes() async throws {
        try await open()
        connection.enqueue(Data("a".utf8))
        let first = Task { [connection] in try await connection.flush() }
        try await eventually { !driver.sends.isEmpty }
        let second = Task { [connection] in try await connection.flush() }
        second.cancel()
        await #expect(throws: CancellationError.self) { try await second.value }
        driver.completeSend()
        try await first.value
        #expect(connection.pendingBytes == 0)
    }

    @Test("bytes from before a failure count as sent, and later bytes are lost")
    func losing() async throws {
        try await open()
        driver.report(.failed(Self.reset))
        try await connection.flush()
        connection.enqueue(Data("a".utf8))
        connection.push()
        #expect(driver.sends == [] && connection.pendingBytes == 0)
        #expect(await code { try await connection.flush() } == .connectionLost)
    }

    // MARK: The end

    @Test("closing ends all waits at once, and later system reports have no effect")
    func closed() async throws {
        try await open()
        connection.enqueue(Data("a".utf8))
        let reader = try await reading()
        let flush = Task { [connection] in try await connection.flush() }
        try await eventually { !driver.sends.isEmpty }
        connection.close()
        connection.close()
        #expect(driver.cancels == 1)
        #expect(await code { try await reader.value } == .cancelled)
        #expect(await code { try await flush.value } == .cancelled)
        driver.complete("late", isAtEnd: true)
        driver.completeSend()
        driver.report(.failed(Self.reset))
        #expect(await code { try await connection.receive() } == .cancelled)
        #expect(await code { try await connection.flush() } == .cancelled)
    }

    @Test("the last release ends the system's connection, even while it receives and sends")
    func released() async throws {
        let driver = ScriptedDriver()
        do {
            let connection = watchForLeaks(SystemConnection(driver))
            let task = Task { try await connection.open(TransportOptions()) }
            try await eventually { driver.isStarted }
            driver.report(.ready)
            try await task.value
            connection.enqueue(Data("a".utf8))
            connection.push()
            let reader = Task { try await connection.receive() }
            try await eventually { !driver.receives.isEmpty }
            reader.cancel()
            _ = await reader.result
        }
        try await eventually { driver.cancels > 0 }
        driver.complete("late")
        driver.completeSend()
    }

    @Test("each wait ends exactly once, in any order of events", arguments: 0..<60)
    func anyOrder(seed: UInt64) async throws {
        var random = SeededGenerator(seed: seed)
        var waits: [Task<Void, any Error>] = [try await opening()]
        var hasReader = false
        for _ in 0..<60 {
            switch Int.random(in: 0..<12, using: &random) {
            case 0: driver.report(.ready)
            case 1:
                if hasReader { break }
                hasReader = true
                waits.append(Task { [connection] in _ = try await connection.receive() })
            case 2, 3: connection.enqueue(Data(count: .random(in: 0...300_000, using: &random)))
            case 4: connection.push()
            case 5, 6: waits.append(Task { [connection] in try await connection.flush() })
            case 7: driver.complete(Bool.random(using: &random) ? "bytes" : nil, isAtEnd: .random(using: &random))
            case 8, 9: driver.completeSend()
            case 10: waits.randomElement(using: &random)?.cancel()
            default:
                if Int.random(in: 0..<8, using: &random) > 0 { break }
                if Bool.random(using: &random) { connection.close() } else { driver.report(.failed(Self.reset)) }
            }
            if Bool.random(using: &random) { await Task.yield() }
        }
        connection.close()
        // Resuming a continuation twice crashes the process, and never resuming it hangs here.
        for wait in waits { _ = await wait.result }
        while !driver.receives.isEmpty { driver.complete("late") }
        while !driver.sends.isEmpty { driver.completeSend() }
        #expect(driver.cancels > 0)
    }
}
