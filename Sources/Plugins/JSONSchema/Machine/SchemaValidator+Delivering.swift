import ErrandJSONSyntax
import ErrandJSONValidation

extension SchemaValidator {
    /// Takes the results of the lanes of a part over to the frame around it.
    @inline(__always) mutating func deliver(
        _ results: UnsafeMutablePointer<UInt8>, to frame: UnsafeMutablePointer<SchemaFrame>, _ start: BytePointer,
        _ p: BytePointer, _ digest: ValueDigest, _ depth: Int
    ) -> Bool {
        let transition = frame.pointee.transition
        steps &-= transition.pointee.wireCount
        if transition.pointee.isSimple, transition.pointee.evaluators == nil {
            let parents = machine.results + frame.pointee.results
            for index in 0..<transition.pointee.wireCount {
                let wire = transition.pointee.wires + index
                if results[Int(wire.pointee.child)] == 0 { parents[Int(wire.pointee.parent)] = 0 }
            }
        } else {
            deliverAll(results, frame, start)
        }
        if frame.pointee.hashes { return addDigest(digest, frame, start, p, depth) }
        return true
    }

    @inline(never) private mutating func deliverAll(
        _ results: UnsafeMutablePointer<UInt8>, _ frame: UnsafeMutablePointer<SchemaFrame>, _ start: BytePointer
    ) {
        let transition = frame.pointee.transition
        let parents = machine.results + frame.pointee.results
        var contained: [Int32] = []
        for index in 0..<transition.pointee.wireCount {
            let wire = transition.pointee.wires[index]
            let holds = results[Int(wire.child)] != 0
            switch wire.role {
            case .and: if !holds { parents[Int(wire.parent)] = 0 }
            case .contains:
                guard holds else { continue }
                machine.words[frame.pointee.words + Int(wire.counter)] += 1
                if wire.evaluates { contained.append(wire.parent) }
            case .unevaluated: break
            }
        }
        guard let evaluators = transition.pointee.evaluators else { return }
        steps -= transition.pointee.wireCount + contained.count + 160
        let count = (frame.pointee.state.pointee.laneCount + 63) / 64
        var set = (0..<count).map { evaluators[$0] }
        for lane in contained { set[Int(lane) / 64] |= 1 << UInt64(lane % 64) }
        for index in 0..<transition.pointee.wireCount {
            let wire = transition.pointee.wires[index]
            guard wire.role == .unevaluated, results[Int(wire.child)] == 0, !contained.contains(wire.parent) else {
                continue
            }
            let part = (value: frame.pointee.isObject ? frame.pointee.key : start, index: frame.pointee.count)
            let fate = PendingFate(container: frame.pointee.number, lane: wire.parent, evaluators: set)
            guard let known = pendingIndices[fate] else {
                pendingIndices[fate] = pending.count
                pending.append(PendingPart(fate: fate, values: [part]))
                machine.arena.count(160 + count * 16)
                continue
            }
            pending[known].count += 1
            if pending[known].values.count < problems.limit { pending[known].values.append(part) }
        }
    }

    @inline(never) private mutating func addDigest(
        _ digest: ValueDigest, _ frame: UnsafeMutablePointer<SchemaFrame>, _ start: BytePointer, _ p: BytePointer,
        _ depth: Int
    ) -> Bool {
        if frame.pointee.isObject {
            let key = valueHash.text(frame.pointee.key, frame.pointee.keyEnd)
            frame.pointee.digest = valueHash.adding(key, digest, to: frame.pointee.digest)
            return true
        }
        frame.pointee.digest = valueHash.adding(digest, to: frame.pointee.digest)
        guard let plan = frame.pointee.array, plan.pointee.isUnique, !frame.pointee.hasEqual else { return true }
        let outcome = uniques.insert(start, p, digest, array: frame.pointee.number)
        steps -= uniques.takeCompared() / Self.bytesOfStep
        switch outcome {
        case .new:
            if !hasRoom() { return tooMuch(at: start, depth: depth) }
        case .present: frame.pointee.hasEqual = true
        case .full:
            problems.stop(
                .limit, pointer: pointer(depth),
                expected: "at most \(limits.maximumUniqueItems) elements that have to differ",
                found: "more", offset: start - base)
            return false
        }
        return true
    }
}
