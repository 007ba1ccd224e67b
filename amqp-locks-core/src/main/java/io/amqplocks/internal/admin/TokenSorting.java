package io.amqplocks.internal.admin;

import io.amqplocks.internal.session.MessageHand.Message;
import io.amqplocks.internal.tokens.TokenContent;
import io.amqplocks.internal.tokens.TokenRecord;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Iterator;
import java.util.List;
import java.util.NavigableMap;
import java.util.Optional;
import java.util.TreeMap;
import java.util.stream.Stream;

/**
 * Which message in an administrator's hand is which token of the record.
 *
 * @param members by slot, the message that is its token
 * @param surplus what should not be there: of others, of an older epoch, or there already
 */
record TokenSorting(NavigableMap<Integer, Message> members, List<Message> surplus) {

  /** By slot and epoch. */
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
   * As the plain protocol has it, where any message is a token: one that cannot be told stands for one
   * that was not seen; first for those that are there for certain.
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
}
