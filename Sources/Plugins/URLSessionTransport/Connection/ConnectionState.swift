import Errand
import Foundation

/// A connection's bytes in both directions, the tasks that wait for it, and its failure.
///
/// Each change returns the steps to take after releasing the lock, in order.
struct ConnectionState: Sendable {
    typealias Waiter = CheckedContinuation<Void, any Error>
    typealias Reader = CheckedContinuation<Data?, any Error>

    enum Step: Sendable {
        case start, receive, end
        case send(Data)
        case resume(Waiter, (any Error)?)
        case deliver(Reader, Result<Data?, any Error>)
    }

    private struct Flush: Sendable {
        let id: UInt64
        let upTo: UInt64
        let waiter: Waiter
    }

    static let sendBytes = 256 << 10

    private var opener: Waiter?
    private var isOpen = false
    private(set) var reader: Reader?
    private var input = Data()
    private var isReceiving = false
    private var isAtEnd = false
    private var output: [Data] = []
    private var isSending = false
    /// The numbers of bytes added so far, and of bytes that the system has accepted.
    private var added: UInt64 = 0
    private var sent: UInt64 = 0
    private var flushes: [Flush] = []
    private var lastFlush: UInt64 = 0
    private(set) var failure: ErrandError?
    private var isLosing = false
    private var isClosed = false

    static var closed: ErrandError { ErrandError(.cancelled, "the connection was closed") }

    // MARK: Opening and closing

    mutating func open(_ waiter: Waiter) -> [Step] {
        if let failure { return [.resume(waiter, failure)] }
        opener = waiter
        return [.start]
    }

    mutating func becomeReady() -> [Step] {
        if failure != nil { return [] }
        isOpen = true
        return opener.take().map { [.resume($0, nil)] } ?? []
    }

    mutating func fail(_ reason: NetworkFailure) -> [Step] { fail(isOpen ? reason.lost : reason.unconnected) }

    mutating func fail(_ error: ErrandError) -> [Step] {
        if failure != nil { return [] }
        failure = error
        return finish(error)
    }

    mutating func expire(after limit: Duration) -> [Step] {
        if isOpen { return [] }
        return fail(ErrandError(.timedOut, "the connection wasn't established within \(duration: limit)"))
    }

    mutating func close() -> [Step] {
        if isClosed { return [] }
        isClosed = true
        input = Data()
        if failure != nil { return [] }
        failure = Self.closed
        return finish(Self.closed)
    }

    private mutating func finish(_ error: ErrandError) -> [Step] {
        var steps: [Step] = [.end]
        if let opener = opener.take() { steps.append(.resume(opener, error)) }
        if let reader = reader.take() { steps.append(.deliver(reader, .failure(error))) }
        steps += flushes.map { .resume($0.waiter, error) }
        (flushes, output) = ([], [])
        return steps
    }

    // MARK: Receiving

    mutating func read(_ newReader: Reader) -> [Step] {
        if reader != nil {
            return [.deliver(newReader, .failure(ErrandError(.transportFailed, "the connection already has a reader")))]
        }
        reader = newReader
        return deliver()
    }

    mutating func cancelRead() -> [Step] {
        reader.take().map { [.deliver($0, .failure(CancellationError()))] } ?? []
    }

    mutating func received(_ data: Data?, isAtEnd ends: Bool, _ reason: NetworkFailure?) -> [Step] {
        isReceiving = false
        if isClosed { return [] }
        if let data { input.append(data) }
        if ends { isAtEnd = true }
        var steps = deliver()
        if let reason { steps += fail(reason) }
        return steps
    }

    /// Delivers received bytes, or a failure, or the end, in this order.
    private mutating func deliver() -> [Step] {
        guard let waiting = reader else { return [] }
        let result: Result<Data?, any Error>
        if !input.isEmpty {
            result = .success(input)
            input = Data()
        } else if let failure {
            result = .failure(failure)
        } else if isAtEnd {
            result = .success(nil)
        } else {
            if isReceiving { return [] }
            isReceiving = true
            return [.receive]
        }
        reader = nil
        return [.deliver(waiting, result)]
    }

    // MARK: Sending

    var pendingBytes: Int { Int(added - sent) }

    mutating func enqueue(_ data: Data) {
        if data.isEmpty { return }
        if failure != nil {
            isLosing = true
            return
        }
        output.append(data)
        added += UInt64(data.count)
    }

    mutating func push() -> [Step] {
        if isSending || output.isEmpty || failure != nil { return [] }
        isSending = true
        return [.send(nextPiece())]
    }

    private mutating func nextPiece() -> Data {
        var piece = output[0]
        var count = 1
        while count < output.count, piece.count + output[count].count <= Self.sendBytes {
            piece.append(output[count])
            count += 1
        }
        output.removeSubrange(..<count)
        if piece.count <= Self.sendBytes { return piece }
        output.insert(piece.dropFirst(Self.sendBytes), at: 0)
        return piece.prefix(Self.sendBytes)
    }

    mutating func noteSent(_ count: Int, _ reason: NetworkFailure?) -> [Step] {
        isSending = false
        if let reason { return fail(reason) }
        sent += UInt64(count)
        let done = flushes.prefix { $0.upTo <= sent }
        flushes.removeFirst(done.count)
        return push() + done.map { .resume($0.waiter, nil) }
    }

    mutating func nextFlush() -> UInt64 {
        lastFlush += 1
        return lastFlush
    }

    mutating func flush(_ id: UInt64, _ waiter: Waiter) -> [Step] {
        // If the system accepted all bytes before a failure, they count as sent.
        if sent == added, !isLosing, !isClosed { return [.resume(waiter, nil)] }
        if let failure { return [.resume(waiter, failure)] }
        flushes.append(Flush(id: id, upTo: added, waiter: waiter))
        return push()
    }

    mutating func cancelFlush(_ id: UInt64) -> [Step] {
        guard let index = flushes.firstIndex(where: { $0.id == id }) else { return [] }
        return [.resume(flushes.remove(at: index).waiter, CancellationError())]
    }
}
