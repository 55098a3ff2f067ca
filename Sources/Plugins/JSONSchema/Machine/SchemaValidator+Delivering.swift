import ErrandJSONSyntax
import ErrandJSONValidation

extension SchemaValidator {
    /// Delivers the results of a part's lanes to the innermost frame, which encloses the part. `results` is where the
    /// part's results start.
    @inline(__always) mutating func deliver(
        _ text: Span<UInt8>, results: Int, of range: Range<Int>, digest: ValueDigest, depth: Int
    ) -> Bool {
        let transition = machine.arena.transitions[Int(frame.transition)]
        steps &-= transition.wireCount
        if transition.isSimple, transition.evaluators < 0 {
            let parents = frame.results
            for index in transition.firstWire..<transition.firstWire &+ transition.wireCount {
                let wire = machine.arena.wires[index]
                if machine.results[results &+ Int(wire.child)] == 0 { machine.results[parents &+ Int(wire.parent)] = 0 }
            }
        } else {
            deliverAll(results, range.lowerBound)
        }
        if frame.hashes { return addDigest(text, digest, of: range, depth: depth) }
        return true
    }

    @inline(never)
    private mutating func deliverAll(_ results: Int, _ start: Int) {
        let transition = machine.arena.transitions[Int(frame.transition)]
        let parents = frame.results
        let wires = transition.firstWire..<transition.firstWire + transition.wireCount
        var contained: [Int32] = []
        for index in wires {
            let wire = machine.arena.wires[index]
            let holds = machine.results[results + Int(wire.child)] != 0
            switch wire.role {
            case .and: if !holds { machine.results[parents + Int(wire.parent)] = 0 }
            case .contains:
                guard holds else { continue }
                machine.words[frame.words + Int(wire.counter)] += 1
                if wire.evaluates { contained.append(wire.parent) }
            case .unevaluated: break
            }
        }
        guard transition.evaluators >= 0 else { return }
        steps -= transition.wireCount + contained.count + 160
        var set = evaluators(transition)
        for lane in contained { set[Int(lane) / 64] |= 1 << UInt64(lane % 64) }
        for index in wires {
            let wire = machine.arena.wires[index]
            guard wire.role == .unevaluated, machine.results[results + Int(wire.child)] == 0,
                !contained.contains(wire.parent)
            else { continue }
            let part = (value: frame.isObject ? frame.key : start, index: frame.count)
            let fate = PendingFate(container: frame.number, lane: wire.parent, evaluators: set)
            guard let known = pendingIndices[fate] else {
                pendingIndices[fate] = pending.count
                pending.append(PendingPart(fate: fate, values: [part]))
                machine.arena.count(160 + set.count * 16)
                continue
            }
            pending[known].count += 1
            if pending[known].values.count < problems.limit { pending[known].values.append(part) }
        }
    }

    func evaluators(_ transition: SchemaTransition) -> [UInt64] {
        let count = (machine.arena.states[Int(frame.state)].laneCount + 63) / 64
        return Array(machine.arena.evaluators[transition.evaluators..<transition.evaluators + count])
    }

    @inline(never) private mutating func addDigest(
        _ text: Span<UInt8>, _ digest: ValueDigest, of range: Range<Int>, depth: Int
    ) -> Bool {
        if frame.isObject {
            let key = valueHash.text(text, frame.key..<frame.keyEnd)
            frame.digest = valueHash.adding(key, digest, to: frame.digest)
            return true
        }
        frame.digest = valueHash.adding(digest, to: frame.digest)
        guard frame.array >= 0, machine.arena.arrayPlans[Int(frame.array)].isUnique, !frame.hasEqual else {
            return true
        }
        let outcome = uniques.insert(text, at: range, digest: digest, array: frame.number)
        steps -= uniques.takeCompared() / Self.bytesOfStep
        switch outcome {
        case .new:
            if !hasRoom() { return tooMuch(text, at: range.lowerBound, depth: depth) }
        case .present: frame.hasEqual = true
        case .full:
            problems.stop(
                .limit, pointer: pointer(text, depth),
                expected: "at most \(limits.maximumUniqueItems) elements to compare for uniqueness",
                found: "more", offset: range.lowerBound)
            return false
        }
        return true
    }
}
