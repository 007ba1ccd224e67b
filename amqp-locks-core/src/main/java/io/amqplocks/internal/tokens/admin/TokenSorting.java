package io.amqplocks.internal.tokens.admin;

import io.amqplocks.admin.TokenAudit;
import io.amqplocks.internal.tokens.TokenContent;
import io.amqplocks.internal.tokens.TokenRecord;
import io.amqplocks.internal.tokens.admin.UnackedMessages.Message;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.Stream;

/**
 * Which message that an administrator has received is which token of the record.
 *
 * @param members the message of each token, by slot
 * @param surplus messages that should not exist: they are of other clients, of an older epoch, or a
 *     second one of a token
 */
record TokenSorting(NavigableMap<Integer, Message> members, List<Message> surplus) {

  /** Sorts messages by slot and epoch. */
  static TokenSorting byContent(TokenRecord record, Collection<Message> messages) {
    TreeMap<Integer, Message> members = new TreeMap<>();
    List<Message> surplus = new ArrayList<>();
    for (Message message : messages) {
      Optional<TokenContent> content = TokenContent.parse(message.text()).filter(record::has);
      if (content.isEmpty() || members.putIfAbsent(content.get().slot(), message) != null) {
        surplus.add(message);
      }
    }
    return new TokenSorting(members, surplus);
  }

  /**
   * Sorts messages of the plain protocol, in which any message is a token. A message that names no
   * token counts as one that was not seen. Tokens that certainly exist are matched first.
   */
  static TokenSorting byCount(TokenRecord record, Collection<Message> messages) {
    TokenSorting told = byContent(record, messages);
    TreeMap<Integer, Message> members = new TreeMap<>(told.members);
    Iterator<Message> others = told.surplus.iterator();
    Stream.of(record.tokens(), record.adding(), record.withdrawing())
        .flatMap(tokens -> tokens.epochs().keySet().stream())
        .filter(slot -> !members.containsKey(slot))
        .toList()
        .forEach(
            slot -> {
              if (others.hasNext()) {
                members.put(slot, others.next());
              }
            });
    List<Message> surplus = new ArrayList<>();
    others.forEachRemaining(surplus::add);
    return new TokenSorting(members, surplus);
  }

  /**
   * The same with those surplus messages only that are certainly not sent twice: messages that are
   * no token, and of each token no more than there were before.
   *
   * @param before the messages that were received earlier, on another channel
   */
  TokenSorting withSurplusOf(TokenRecord record, Collection<Message> before) {
    Map<String, Long> more = new HashMap<>();
    Stream.concat(members.values().stream(), surplus.stream())
        .forEach(message -> more.merge(message.text(), 1L, Long::sum));
    before.forEach(message -> more.merge(message.text(), -1L, Long::sum));
    return new TokenSorting(
        members,
        surplus.stream()
            .filter(
                message ->
                    more.getOrDefault(message.text(), 0L) <= 0
                        || TokenContent.parse(message.text()).filter(record::has).isEmpty())
            .toList());
  }

  /** The same without the surplus messages. */
  TokenSorting withoutSurplus() {
    return new TokenSorting(members, List.of());
  }

  /**
   * The result of an audit, if no more messages could be received. The tokens of the record that
   * have no message are outstanding.
   */
  TokenAudit audit(TokenRecord record) {
    Set<Integer> outstanding = new TreeSet<>(record.members().epochs().keySet());
    outstanding.removeAll(members.keySet());
    return new TokenAudit(
        record.slots(),
        members.size() + surplus.size(),
        surplus.size(),
        outstanding.size(),
        outstanding,
        false);
  }

  /** The result of a repair of what the audit found. */
  static TokenAudit repaired(TokenAudit found) {
    return new TokenAudit(
        found.slots(),
        found.seen(),
        found.surplus(),
        found.outstanding(),
        found.outstandingSlots(),
        true);
  }
}
