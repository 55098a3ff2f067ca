import CoreMetrics
import Logging
import Synchronization
import Tracing

/// A tracer whose spans keep their attributes until they end, then only counts them.
struct CountingTracer: Tracer {
    let ended = Counts()

    func startSpan<Instant: TracerInstant>(
        _ operationName: String, context: @autoclosure () -> InstrumentationContext, ofKind kind: SpanKind,
        at instant: @autoclosure () -> Instant, function: String, file fileID: String, line: UInt
    ) -> CountedSpan {
        _ = instant().nanosecondsSinceEpoch
        return CountedSpan(operationName, context(), ended)
    }

    func forceFlush() {}

    func inject<Carrier, Inject: Injector>(
        _ context: InstrumentationContext, into carrier: inout Carrier, using injector: Inject
    ) where Inject.Carrier == Carrier {
        injector.inject(
            "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01", forKey: "traceparent", into: &carrier)
    }

    func extract<Carrier, Extract: Extractor>(
        _ carrier: Carrier, into context: inout InstrumentationContext, using extractor: Extract
    ) where Extract.Carrier == Carrier {}
}

final class CountedSpan: Span {
    private struct State: Sendable {
        var name: String
        var attributes: SpanAttributes = [:]
        var status: SpanStatus?
    }

    let context: InstrumentationContext
    private let state: Mutex<State>
    private let ended: Counts

    init(_ name: String, _ context: InstrumentationContext, _ ended: Counts) {
        (self.context, self.ended) = (context, ended)
        state = Mutex(State(name: name))
    }

    var operationName: String {
        get { state.withLock { $0.name } }
        set { state.withLock { $0.name = newValue } }
    }
    var attributes: SpanAttributes {
        get { state.withLock { $0.attributes } }
        set { state.withLock { $0.attributes = newValue } }
    }
    var isRecording: Bool { true }
    func setStatus(_ status: SpanStatus) { state.withLock { $0.status = status } }
    func addEvent(_ event: SpanEvent) {}
    func addLink(_ link: SpanLink) {}
    func recordError<Instant: TracerInstant>(
        _ error: any Error, attributes: SpanAttributes, at instant: @autoclosure () -> Instant
    ) {}
    func end<Instant: TracerInstant>(at instant: @autoclosure () -> Instant) {
        _ = instant().nanosecondsSinceEpoch
        ended.add(1)
    }
}

/// A metrics backend that only keeps sums.
struct SummingMetrics: MetricsFactory {
    func makeCounter(label: String, dimensions: [(String, String)]) -> any CounterHandler { Counts() }
    func makeRecorder(label: String, dimensions: [(String, String)], aggregate: Bool) -> any RecorderHandler {
        Counts()
    }
    func makeTimer(label: String, dimensions: [(String, String)]) -> any TimerHandler { Counts() }
    func makeMeter(label: String, dimensions: [(String, String)]) -> any MeterHandler { Counts() }
    func destroyCounter(_ handler: any CounterHandler) {}
    func destroyRecorder(_ handler: any RecorderHandler) {}
    func destroyTimer(_ handler: any TimerHandler) {}
    func destroyMeter(_ handler: any MeterHandler) {}
}

final class Counts: CounterHandler, RecorderHandler, TimerHandler, MeterHandler {
    private let sum = Atomic<Int64>(0)

    var total: Int64 { sum.load(ordering: .relaxed) }
    func add(_ amount: Int64) { sum.wrappingAdd(amount, ordering: .relaxed) }
    func increment(by amount: Int64) { add(amount) }
    func reset() { sum.store(0, ordering: .relaxed) }
    func record(_ value: Int64) { add(value) }
    func record(_ value: Double) { add(Int64(value)) }
    func recordNanoseconds(_ duration: Int64) { add(duration) }
    func set(_ value: Int64) { sum.store(value, ordering: .relaxed) }
    func set(_ value: Double) { set(Int64(value)) }
    func increment(by amount: Double) { add(Int64(amount)) }
    func decrement(by amount: Double) { add(-Int64(amount)) }
}

/// A log that counts its records.
struct CountingLog: LogHandler {
    let written = Counts()
    var metadata: Logger.Metadata = [:]
    var logLevel = Logger.Level.info

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    func log(event: LogEvent) { written.add(1) }
}
